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

// Names beyond ASCII come back as they were; bytes that are no text become some character.
TEST(json_of_hostile_names) {
    const std::string path = check::scratch("json");
    const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    JsonFile json(fd);
    json.open('[');
    json.string(nullptr, "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x8c\x8a");
    json.string(nullptr, "\xc3"); // cut
    json.string(nullptr, "\xe2\x82x\x80");
    json.string(nullptr,
                "\xc0\xaf \xed\xa0\x80 \xf4\x90\x80\x80"); // overlong, surrogate, too large
    json.close(']');
    expect_true(json.finish());
    close(fd);
    expect_str(check::read_file(path),
               "[\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x8c\x8a\",\n \"\\u00c3\",\n "
               "\"\\u00e2\\u0082x\\u0080\",\n \"\\u00c0\\u00af \\u00ed\\u00a0\\u0080 "
               "\\u00f4\\u0090\\u0080\\u0080\"]\n");
}

TEST(a_file_that_cannot_be_written_is_noticed) {
    JsonFile json(-1);
    json.open('{');
    json.close('}');
    expect_eq(json.finish(), false);
}
