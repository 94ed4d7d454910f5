-- Sixteen requests in one write.
local all
function init()
    local one = wrk.format()
    all = string.rep(one, 16)
end
function request()
    return all
end
