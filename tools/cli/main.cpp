#include "doctor.hpp"

#include <CLI/CLI.hpp>

/// `pitsaw SUBCOMMAND`: what a user asks of pitsaw at a shell. Each subcommand is a file beside this one.
int main(int argc, char** argv) {
    CLI::App app("What an installed pitsaw can be asked at a shell", "pitsaw");
    app.require_subcommand(1);
    app.set_version_flag("--version", PITSAW_VERSION);
    auto const* const doctor =
        app.add_subcommand("doctor", "Says what this machine gives a runtime, and which driver it gets. "
                                     "Exits with 0 if one works, with 1 otherwise");
    CLI11_PARSE(app, argc, argv);
    return doctor->parsed() ? pitsaw::cli::doctor() : 2;
}
