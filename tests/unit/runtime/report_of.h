// The runtime's report of a case that runs by itself.
#pragma once
#include "check.h"
#include <cstdio>
#include <string>
#include <sys/stat.h>

// Runs another case of this program by itself and returns its report.
inline std::string report_of(const char *config, const char *name) {
    const std::string directory = check::scratch("inner");
    mkdir(directory.c_str(), 0777);
    expect_eq(check::run_self(directory, config, {"--case", name}), 0);
    expect_str(check::read_file(directory + "/stderr"), "");
    FILE *list = popen(("cat " + directory + "/report.*.json").c_str(), "r");
    std::string report(100000, 0);
    report.resize(fread(report.data(), 1, report.size(), list));
    pclose(list);
    return report;
}
