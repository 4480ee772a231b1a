// Looks into object files and archives: which of them can be annotated at the
// link, and why others can't.  Reads only headers; trusts nothing it reads.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace thermocline {

enum class Content {
    Annotatable, // full-LTO bitcode, alone or in a fat object
    ThinLto,     // bitcode made for ThinLTO
    Native,      // machine code only
    Rewritten,   // a fat object that another tool wrote anew after compilation
    NotAnObject, // shared library, linker script, source, ...
};

struct Object {
    std::string member; // name in the archive; empty outside of one
    Content content = Content::NotAnObject;
    std::string producer;          // native code: the compiler's name for itself
    uint64_t bitcodeSectionAt = 0; // Rewritten: where in the file its section header stands
};

// One for an object file, one for each member of an archive; none for others.
// Members of a thin archive are read from their own files.
std::vector<Object> inspect(const std::string &path, std::string_view contents);

// Makes lld overlook the bitcode of rewritten objects.
void hideBitcode(std::string &contents, const std::vector<Object> &objects);

} // namespace thermocline
