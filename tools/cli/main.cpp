#include "doctor.hpp"
#include "record.hpp"

#include <CLI/CLI.hpp>

/// `pitsaw SUBCOMMAND`: what a user asks of pitsaw at a shell. Each subcommand is a file beside this one.
int main(int argc, char** argv) {
    CLI::App app("What an installed pitsaw can be asked at a shell", "pitsaw");
    app.require_subcommand(1);
    app.set_version_flag("--version", PITSAW_VERSION);
    auto const* const doctor =
        app.add_subcommand("doctor", "Says what this machine gives a runtime, and which driver it gets. "
                                     "Exits with 0 if one works, with 1 otherwise");
    auto* const record =
        app.add_subcommand("record", "Prints what the workers of a running process did last: the driver's "
                                     "events, endings, stops. The process need not help. Exits with 1 if it "
                                     "cannot");
    pitsaw::cli::record_options record_options;
    record->add_option("process", record_options.from, "A process's number, or a file that was saved")
        ->required();
    record->add_option("--raw", record_options.raw,
                       "Saves the record in this file instead, with the inputs if they are held; a second "
                       "worker's in the file with .2 behind its name");
    CLI11_PARSE(app, argc, argv);
    if (doctor->parsed()) return pitsaw::cli::doctor();
    return record->parsed() ? pitsaw::cli::record(record_options) : 2;
}
