// An annotated module made by hand: what the plugin would have put into the program.
#pragma once
#include "abi.h"
#include <initializer_list>
#include <string>
#include <vector>

class AnnotatedModule {
  public:
    AnnotatedModule(const std::string &name, std::initializer_list<const char *> keys) {
        add("thermocline-sites 1 module=" + name + " context=0");
        for (const char *key : keys) {
            tc_site site{};
            site.key = static_cast<uint32_t>(table.size());
            add(key);
            site.routine = static_cast<uint32_t>(table.size());
            add("malloc");
            add("1");
            sites.push_back(site);
        }
        add("");
        module = {TC_ABI_VERSION,
                  static_cast<uint32_t>(sites.size()),
                  sites.data(),
                  table.data(),
                  table.size(),
                  nullptr,
                  0,
                  nullptr,
                  nullptr,
                  0,
                  nullptr,
                  nullptr};
        tc_module_load(&module);
    }
    ~AnnotatedModule() { tc_module_unload(&module); }
    AnnotatedModule(const AnnotatedModule &) = delete;
    AnnotatedModule &operator=(const AnnotatedModule &) = delete;

    tc_site *operator[](size_t i) { return &sites[i]; }

  private:
    void add(const std::string &text) {
        table += text;
        table += '\0';
    }
    std::string table;
    std::vector<tc_site> sites;
    tc_module module;
};
