// A JSON object of a configuration: each field is asked for by name and checked, and what nobody
// has asked for is not known.  Throws ConfigError.
#pragma once
#include "simulator/memory/config.h"
#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace thermocline {

using Json = nlohmann::json;

class Object {
  public:
    Object(const Json &json, std::string place) : json_(json), place_(std::move(place)) {
        if (!json.is_object())
            throw ConfigError(place_ + " is no object");
    }
    [[noreturn]] void fail(const char *field, const std::string &problem) const {
        throw ConfigError((place_.empty() ? "" : place_ + ".") + field + " " + problem);
    }
    const Json *find(const char *field) {
        asked_.insert(field);
        const auto found = json_.find(field);
        return found == json_.end() ? nullptr : &*found;
    }
    const Json &at(const char *field) {
        const Json *found = find(field);
        if (!found)
            fail(field, "is missing");
        return *found;
    }
    uint64_t number(const char *field, uint64_t least, uint64_t most) {
        const Json &value = at(field);
        if (!value.is_number_unsigned() || value.get<uint64_t>() < least ||
            value.get<uint64_t>() > most)
            fail(field, "must be a whole number from " + std::to_string(least) + " to " +
                            std::to_string(most));
        return value.get<uint64_t>();
    }
    uint64_t number_or(const char *field, uint64_t otherwise, uint64_t least, uint64_t most) {
        return find(field) ? number(field, least, most) : otherwise;
    }
    double real(const char *field, double least, double most) {
        const Json &value = at(field);
        if (!value.is_number() || !(value.get<double>() >= least && value.get<double>() <= most))
            fail(field,
                 "must be a number from " + std::to_string(least) + " to " + std::to_string(most));
        return value.get<double>();
    }
    bool flag(const char *field) {
        if (!at(field).is_boolean())
            fail(field, "must be true or false");
        return at(field).get<bool>();
    }
    std::string text(const char *field) {
        if (!at(field).is_string())
            fail(field, "must be a string");
        return at(field).get<std::string>();
    }
    const Json &list(const char *field, size_t least, size_t most) {
        if (!at(field).is_array() || at(field).size() < least || at(field).size() > most)
            fail(field,
                 "must be a list of " + std::to_string(least) + " to " + std::to_string(most));
        return at(field);
    }
    void finish() const {
        for (const auto &item : json_.items())
            if (!asked_.count(item.key()))
                throw ConfigError((place_.empty() ? "" : place_ + ".") + item.key() +
                                  " is not known");
    }

  private:
    const Json &json_;
    std::string place_;
    std::set<std::string> asked_;
};

} // namespace thermocline
