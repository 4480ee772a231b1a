// ELF, bitcode and ar, as far as ObjectFile.h asks.
#include "ObjectFile.h"
#include "Arguments.h"
#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <elf.h>

namespace thermocline {

static constexpr uint32_t bitcodeSectionType = 0x6fff4c0c; // SHT_LLVM_LTO

static std::string_view slice(std::string_view text, uint64_t start, uint64_t size) {
    if (start > text.size() || size > text.size() - start)
        return {};
    return text.substr(start, size);
}

template <class T> static bool readAt(std::string_view text, uint64_t start, T &out) {
    std::string_view bytes = slice(text, start, sizeof out);
    if (bytes.size() != sizeof out)
        return false;
    memcpy(&out, bytes.data(), sizeof out);
    return true;
}

static std::string_view textAt(std::string_view table, uint64_t start) {
    if (start >= table.size())
        return {};
    table.remove_prefix(start);
    return table.substr(0, table.find('\0'));
}

static bool isBitcode(std::string_view text) {
    return text.substr(0, 4) == "BC\xC0\xDE" ||
           text.substr(0, 4) == std::string_view("\xDE\xC0\x17\x0B", 4);
}

// clang and flang flag full-LTO modules with "ThinLTO" = 0, ThinLTO ones with
// "EnableSplitLTOUnit" alone, and those made without -flto with neither; flags'
// names stand in bitcode as plain text.
static Content bitcodeContent(std::string_view bitcode) {
    auto has = [&](std::string_view flag) {
        return memmem(bitcode.data(), bitcode.size(), flag.data(), flag.size()) != nullptr;
    };
    return !has("ThinLTO") && has("EnableSplitLTOUnit") ? Content::ThinLto : Content::Annotatable;
}

// LLVM writes a new object's first section as its string table; GNU as, ld -r,
// objcopy and strip put theirs last.  What they wrote may have more symbols than
// its bitcode (ld -r), or other names for them (objcopy).
static void inspectElf(std::string_view file, uint64_t offset, Object &object) {
    std::string_view elf = file.substr(offset);
    Elf64_Ehdr header;
    if (!readAt(elf, 0, header) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_type != ET_REL)
        return;
    object.content = Content::Native;
    uint64_t count = header.e_shnum, namesIndex = header.e_shstrndx;
    Elf64_Shdr section;
    if (header.e_shoff && readAt(elf, header.e_shoff, section)) { // more than 65,000 sections
        count = count ? count : section.sh_size;
        namesIndex = namesIndex == SHN_XINDEX ? section.sh_link : namesIndex;
    }
    if (!readAt(elf, header.e_shoff + namesIndex * sizeof section, section))
        return;
    std::string_view names = slice(elf, section.sh_offset, section.sh_size);
    bool byLlvm = namesIndex == 1;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t at = header.e_shoff + i * sizeof section;
        if (!readAt(elf, at, section))
            return;
        if (section.sh_type == bitcodeSectionType) {
            object.content = byLlvm ? bitcodeContent(slice(elf, section.sh_offset, section.sh_size))
                                    : Content::Rewritten;
            object.bitcodeSectionAt = offset + at;
        } else if (textAt(names, section.sh_name) == ".comment") {
            std::string_view text = slice(elf, section.sh_offset, section.sh_size);
            text = text.substr(std::min(text.find_first_not_of('\0'), text.size()));
            object.producer = text.substr(0, text.find('\0'));
        }
    }
}

static Object inspectOne(std::string_view file, uint64_t offset, uint64_t size,
                         std::string member) {
    Object object;
    object.member = std::move(member);
    std::string_view contents = slice(file, offset, size);
    if (isBitcode(contents))
        object.content = bitcodeContent(contents);
    else if (contents.substr(0, SELFMAG) == ELFMAG)
        inspectElf(file.substr(0, offset + size), offset, object);
    return object;
}

static uint64_t number(std::string_view text) {
    uint64_t out = 0;
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    std::from_chars(text.data(), text.data() + text.size(), out);
    return out;
}

// An ar member's name: "NAME/", "/OFFSET" into the table of long names, or
// BSD's "#1/LENGTH" with the name in front of the data.
static std::string memberName(std::string_view field, std::string_view longNames,
                              std::string_view data, uint64_t &nameBytes) {
    nameBytes = 0;
    if (field.size() > 1 && field[0] == '/' && field[1] >= '0' && field[1] <= '9') {
        std::string_view name =
            longNames.substr(std::min<uint64_t>(number(field.substr(1)), longNames.size()));
        name = name.substr(0, name.find('\n'));
        return std::string(name.substr(0, name.rfind('/')));
    }
    if (field.substr(0, 3) == "#1/") {
        nameBytes = std::min<uint64_t>(number(field.substr(3)), data.size());
        std::string_view name = data.substr(0, nameBytes);
        return std::string(name.substr(0, name.find('\0')));
    }
    return std::string(field.substr(0, field.find('/')));
}

static std::vector<Object> inspectArchive(const std::string &path, std::string_view file,
                                          bool thin) {
    std::vector<Object> out;
    std::string_view longNames;
    constexpr uint64_t headerBytes = 60;
    for (uint64_t at = 8; at + headerBytes <= file.size();) {
        std::string_view header = file.substr(at, headerBytes);
        std::string_view field = header.substr(0, 16);
        field = field.substr(0, field.find_last_not_of(' ') + 1);
        uint64_t size = number(header.substr(48, 10));
        uint64_t data = at + headerBytes;
        bool table = field == "/" || field == "//" || field == "/SYM64/" || field == "__.SYMDEF";
        bool inside = !thin || table;
        if (inside && size > file.size() - data)
            break; // cut off
        if (field == "//") {
            longNames = slice(file, data, size);
        } else if (!table) {
            uint64_t nameBytes;
            std::string name =
                memberName(field, longNames, inside ? slice(file, data, size) : "", nameBytes);
            if (inside) {
                out.push_back(inspectOne(file, data + nameBytes, size - nameBytes, name));
            } else {
                std::string folder = path.substr(0, path.rfind('/') + 1), contents;
                readFile(name[0] == '/' ? name : folder + name, contents);
                out.push_back(inspectOne(contents, 0, contents.size(), name));
                out.back().bitcodeSectionAt = 0; // not in this file
            }
        }
        at = data + (inside ? size + size % 2 : 0);
    }
    return out;
}

std::vector<Object> inspect(const std::string &path, std::string_view contents) {
    if (contents.substr(0, 8) == "!<arch>\n")
        return inspectArchive(path, contents, false);
    if (contents.substr(0, 8) == "!<thin>\n")
        return inspectArchive(path, contents, true);
    Object object = inspectOne(contents, 0, contents.size(), "");
    if (object.content == Content::NotAnObject)
        return {};
    return {object};
}

void hideBitcode(std::string &contents, const std::vector<Object> &objects) {
    // lld knows the section by its type, and by its name.
    const uint32_t noName = 0, ordinary = SHT_PROGBITS;
    static_assert(offsetof(Elf64_Shdr, sh_name) == 0 && offsetof(Elf64_Shdr, sh_type) == 4);
    for (const Object &object : objects) {
        uint64_t at = object.bitcodeSectionAt;
        if (object.content != Content::Rewritten || !at ||
            at + sizeof(Elf64_Shdr) > contents.size())
            continue;
        memcpy(contents.data() + at, &noName, sizeof noName);
        memcpy(contents.data() + at + 4, &ordinary, sizeof ordinary);
    }
}

} // namespace thermocline
