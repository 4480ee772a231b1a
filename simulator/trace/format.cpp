// Checksums and compression of the trace file's chunks.
#include "simulator/trace/format.h"
#include <cstddef>
#include <cstring>
#include <memory>
#include <xxhash.h>
#include <zstd.h>

namespace thermocline {

FileHead checked_head(const FileHead &head, const std::string &name) {
    const FileHead expected;
    if (std::memcmp(head.magic, expected.magic, sizeof head.magic) != 0)
        throw TraceError(name + " is not a trace: make one with thermocline trace, or import it");
    if (head.version != trace_version)
        throw TraceError(name + " is a trace of version " + std::to_string(head.version) +
                         ", which this thermocline does not read: record it again");
    if (std::memcmp(&head, &expected, sizeof head) != 0)
        throw TraceError(name + " is damaged in its head: record it again");
    return head;
}

uint64_t chunk_checksum(const ChunkHeader &header, Bytes stored) {
    return XXH64(stored.data(), stored.size(), XXH64(&header, offsetof(ChunkHeader, checksum), 0));
}

uint64_t end_checksum(uint64_t index_offset) {
    return XXH64(&index_offset, sizeof index_offset, 0);
}

bool plausible(const ChunkHeader &header) {
    if (header.magic != chunk_magic || uint16_t(header.kind) < 1 ||
        uint16_t(header.kind) > chunk_kinds)
        return false;
    // The index grows with the file; its reader has a limit of its own.
    if (header.kind == ChunkKind::index)
        return true;
    return header.plain_bytes <= max_plain_bytes && header.records <= max_records &&
           header.stored_bytes <= ZSTD_compressBound(max_plain_bytes);
}

namespace {

// Contexts are large; each thread of the host keeps one.
struct FreeCompressor {
    void operator()(ZSTD_CCtx *context) const { ZSTD_freeCCtx(context); }
};
struct FreeExpander {
    void operator()(ZSTD_DCtx *context) const { ZSTD_freeDCtx(context); }
};
thread_local std::unique_ptr<ZSTD_CCtx, FreeCompressor> compressor;
thread_local std::unique_ptr<ZSTD_DCtx, FreeExpander> expander;

} // namespace

void compress(Bytes plain, int level, std::vector<uint8_t> &stored, std::span<const size_t> ends) {
    if (!compressor)
        compressor.reset(ZSTD_createCCtx());
    constexpr size_t block_head = 16; // more than zstd's 3 bytes, for each end
    stored.resize(ZSTD_compressBound(plain.size()) + block_head * (ends.size() + 1));
    ZSTD_outBuffer out{stored.data(), stored.size(), 0};
    ZSTD_inBuffer in{plain.data(), 0, 0};
    size_t left = ZSTD_CCtx_reset(compressor.get(), ZSTD_reset_session_and_parameters);
    if (!ZSTD_isError(left))
        left = ZSTD_CCtx_setParameter(compressor.get(), ZSTD_c_compressionLevel, level);
    for (size_t i = 0; i <= ends.size() && !ZSTD_isError(left); i++) {
        in.size = i < ends.size() ? ends[i] : plain.size();
        left = ZSTD_compressStream2(compressor.get(), &out, &in,
                                    i < ends.size() ? ZSTD_e_flush : ZSTD_e_end);
    }
    if (left != 0)
        throw TraceError(std::string("zstd can't compress: ") + ZSTD_getErrorName(left));
    stored.resize(out.pos);
}

void expand(Bytes stored, std::vector<uint8_t> &plain, size_t plain_bytes) {
    if (!expander)
        expander.reset(ZSTD_createDCtx());
    plain.resize(plain_bytes);
    const size_t size = ZSTD_decompressDCtx(expander.get(), plain.data(), plain.size(),
                                            stored.data(), stored.size());
    if (ZSTD_isError(size) || size != plain_bytes)
        throw TraceError("a chunk does not expand to its size");
}

} // namespace thermocline
