// Messages and JSON without malloc.
#include "check.h"
#include "text.h"
#include <fcntl.h>

using namespace tc;

TEST(lines_are_cut_where_the_buffer_ends) {
    char buffer[8];
    Line(buffer, sizeof buffer) << "abc" << uint64_t(12345678);
    expect_str(buffer, "abc1234");
    Line(buffer, sizeof buffer) << uint64_t(0) << 'x';
    expect_str(buffer, "0x");
}

TEST(json) {
    const std::string path = check::scratch("json");
    const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    JsonFile json(fd);
    json.open('{');
    json.string("text", "a\"b\\c\n\x01");
    json.number("most", UINT64_MAX);
    json.open('[', "list");
    json.number(nullptr, 1);
    json.string(nullptr, nullptr);
    json.close(']');
    json.open('[', "none");
    json.close(']');
    json.seconds("seconds", 1002003999);
    json.close('}');
    expect_true(json.finish());
    close(fd);
    expect_str(check::read_file(path),
               "{\"text\": \"a\\\"b\\\\c\\u000a\\u0001\",\n \"most\": 18446744073709551615,\n "
               "\"list\": [1,\n null],\n \"none\": [],\n \"seconds\": 1.002003}\n");
}

TEST(a_file_that_cannot_be_written_is_noticed) {
    JsonFile json(-1);
    json.open('{');
    json.close('}');
    expect_eq(json.finish(), false);
}
