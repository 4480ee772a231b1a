// The native tests' harness: expectations that print both sides, and test cases that each
// run in a process of their own, under a configuration of their own if they want one.
//
//   TEST(name) { expect_eq(1 + 1, 2); }
//   TEST_WITH_CONFIG(name, "heap guided\n...") { ... }   // the version line is put in front
//
// A case that is run under a configuration may ask for the report with `report PREFIX`,
// where PREFIX is scratch("report"): "%DIR%" in the configuration stands for scratch("").
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <type_traits>
#include <unistd.h>
#include <vector>

namespace check {

inline int failures;

template <typename Value> std::string show(const Value &value) {
    if constexpr (std::is_same_v<Value, bool>)
        return value ? "true" : "false";
    else if constexpr (std::is_null_pointer_v<Value>)
        return "null";
    else if constexpr (std::is_enum_v<Value>)
        return std::to_string(static_cast<long long>(value));
    else if constexpr (std::is_convertible_v<Value, const char *>) {
        const char *text = value;
        return text ? "\"" + std::string(text) + "\"" : "null";
    } else if constexpr (std::is_same_v<Value, std::string>)
        return "\"" + value + "\"";
    else if constexpr (std::is_pointer_v<Value>) {
        char text[32];
        snprintf(text, sizeof text, "%p", static_cast<const void *>(value));
        return text;
    } else
        return std::to_string(value);
}

inline void fail(const char *file, int line, const std::string &what) {
    __atomic_add_fetch(&failures, 1, __ATOMIC_RELAXED);
    printf("%s:%d: %s\n", file, line, what.c_str());
    fflush(stdout);
}

template <typename Left, typename Right>
void compare(bool holds, const Left &left, const char *sign, const Right &right, const char *text,
             const char *file, int line) {
    if (!holds)
        fail(file, line,
             std::string("expected ") + text + ": " + show(left) + " is not " + sign + " " +
                 show(right));
}

struct Case {
    const char *name;
    const char *config; // or null
    void (*run)();
};
inline std::vector<Case> &cases() {
    static std::vector<Case> all;
    return all;
}
struct Registration {
    Registration(const char *name, const char *config, void (*run)()) {
        cases().push_back({name, config, run});
    }
};

// A file in the directory of this run of the case.
inline std::string scratch(const std::string &name) {
    const char *directory = getenv("CHECK_SCRATCH");
    return std::string(directory ? directory : "/tmp") + "/" + name;
}

inline std::string read_file(const std::string &path) {
    std::string text;
    if (FILE *file = fopen(path.c_str(), "r")) {
        char buffer[4096];
        for (size_t n; (n = fread(buffer, 1, sizeof buffer, file)) > 0;)
            text.append(buffer, n);
        fclose(file);
    }
    return text;
}

inline void write_file(const std::string &path, const std::string &text) {
    if (FILE *file = fopen(path.c_str(), "w")) {
        fwrite(text.data(), 1, text.size(), file);
        fclose(file);
    }
}

// The number after `"name": ` in a report, the index-th of them; -1 if there is none.
inline long long json_number(const std::string &json, const std::string &name, int index = 0) {
    const std::string label = "\"" + name + "\": ";
    size_t at = json.find(label);
    while (at != std::string::npos && index-- > 0)
        at = json.find(label, at + 1);
    return at == std::string::npos ? -1 : strtoll(json.c_str() + at + label.size(), nullptr, 10);
}

inline std::string make_directory() {
    char name[] = "/tmp/thermocline-test-XXXXXX";
    return mkdtemp(name) ? name : "/tmp";
}

// Runs a command of this program, with a configuration (or none); its exit status, or 1000 and
// the signal.  Its stderr goes to DIRECTORY/stderr.
inline int run_self(const std::string &directory, const char *config,
                    const std::vector<std::string> &arguments) {
    fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        setenv("CHECK_SCRATCH", directory.c_str(), 1);
        unsetenv("THERMOCLINE_CONFIG");
        if (config) {
            std::string text = std::string("thermocline-config 1\n") + config;
            for (size_t at; (at = text.find("%DIR%")) != std::string::npos;)
                text.replace(at, 5, directory);
            write_file(directory + "/config", text);
            setenv("THERMOCLINE_CONFIG", (directory + "/config").c_str(), 1);
        }
        if (!freopen((directory + "/stderr").c_str(), "w", stderr))
            exit(3);
        std::vector<char *> vector{const_cast<char *>("/proc/self/exe")};
        for (const std::string &argument : arguments)
            vector.push_back(const_cast<char *>(argument.c_str()));
        vector.push_back(nullptr);
        execv("/proc/self/exe", vector.data());
        exit(3);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

inline int run_all(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "--case") == 0) {
        for (const Case &each : cases())
            if (strcmp(each.name, argv[2]) == 0)
                each.run();
        return failures != 0;
    }
    int failed = 0, ran = 0;
    for (const Case &each : cases()) {
        if (argc == 2 && strcmp(argv[1], each.name) != 0)
            continue;
        const std::string directory = make_directory();
        const int status = run_self(directory, each.config, {"--case", each.name});
        const std::string complaints = read_file(directory + "/stderr");
        ran++;
        if (status != 0 || !complaints.empty()) {
            failed++;
            printf("FAILED %s: %s %d%s%s\n", each.name, status >= 1000 ? "signal" : "exit status",
                   status >= 1000 ? status - 1000 : status,
                   complaints.empty() ? "" : ", stderr: ", complaints.c_str());
        }
        if (system(("rm -rf " + directory).c_str()) != 0)
            printf("%s is left over\n", directory.c_str());
    }
    printf("%d of %d cases passed\n", ran - failed, ran);
    return failed != 0 || ran == 0;
}

} // namespace check

#define TEST_WITH_CONFIG(name, config)                                                             \
    static void test_##name();                                                                     \
    static const check::Registration registration_##name(#name, config, test_##name);              \
    static void test_##name()
#define TEST(name) TEST_WITH_CONFIG(name, nullptr)

#define EXPECT_COMPARISON_(left, sign, right)                                                      \
    do {                                                                                           \
        const auto left_ = (left);                                                                 \
        const auto right_ = (right);                                                               \
        check::compare(left_ sign right_, left_, #sign, right_, #left " " #sign " " #right,        \
                       __FILE__, __LINE__);                                                        \
    } while (0)
#define expect_eq(left, right) EXPECT_COMPARISON_(left, ==, right)
#define expect_ne(left, right) EXPECT_COMPARISON_(left, !=, right)
#define expect_lt(left, right) EXPECT_COMPARISON_(left, <, right)
#define expect_le(left, right) EXPECT_COMPARISON_(left, <=, right)
#define expect_ge(left, right) EXPECT_COMPARISON_(left, >=, right)
#define expect_true(condition)                                                                     \
    do {                                                                                           \
        if (!(condition))                                                                          \
            check::fail(__FILE__, __LINE__, "expected " #condition);                               \
    } while (0)
#define expect_str(left, right)                                                                    \
    do {                                                                                           \
        const std::string left_ = (left), right_ = (right);                                        \
        check::compare(left_ == right_, left_, "==", right_, #left " == " #right, __FILE__,        \
                       __LINE__);                                                                  \
    } while (0)
