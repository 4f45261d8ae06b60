// A plugin for QEMU that counts the instructions that an emulated program executes, and writes the count to a file when
// the program ends:
//
//   qemu-aarch64 -plugin count_instructions.so,count=COUNT PROGRAM...
//
// A block of instructions adds their number when it begins. The count is exact for a program of one thread: threads
// that run at once could lose additions.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

// The part of QEMU's interface for plugins, version 1, that is used here; Debian has no package with its header.
extern "C" {

struct qemu_plugin_tb;  // A block of instructions, which is entered only at its start.

size_t qemu_plugin_tb_n_insns(const qemu_plugin_tb* block);
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t plugin, void (*call)(uint64_t plugin, qemu_plugin_tb* block));
void qemu_plugin_register_vcpu_tb_exec_inline(qemu_plugin_tb* block, int operation, void* number, uint64_t addend);
void qemu_plugin_register_atexit_cb(uint64_t plugin, void (*call)(uint64_t plugin, void* given), void* given);

// QEMU refuses a plugin without this symbol.
__attribute__((visibility("default"))) extern const int qemu_plugin_version = 1;
__attribute__((visibility("default"))) int qemu_plugin_install(uint64_t plugin, const void* emulator, int count,
                                                               char** arguments);
}

namespace {

constexpr int addition = 0;  // The only operation that an executed block can do without a call.
uint64_t executed = 0;

void count_block(uint64_t, qemu_plugin_tb* block) {
    qemu_plugin_register_vcpu_tb_exec_inline(block, addition, &executed, qemu_plugin_tb_n_insns(block));
}

void write_count(uint64_t, void* path) {
    std::FILE* file = std::fopen(static_cast<const char*>(path), "w");
    if (file == nullptr) return;
    std::fprintf(file, "%llu\n", static_cast<unsigned long long>(executed));
    std::fclose(file);
}

}  // namespace

int qemu_plugin_install(uint64_t plugin, const void*, int count, char** arguments) {
    constexpr size_t prefix = sizeof "count=" - 1;
    if (count != 1 || std::strncmp(arguments[0], "count=", prefix) != 0) return -1;
    static char path[4096];  // The arguments are QEMU's, which may free them before the program ends.
    if (std::snprintf(path, sizeof path, "%s", arguments[0] + prefix) >= static_cast<int>(sizeof path)) return -1;
    qemu_plugin_register_vcpu_tb_trans_cb(plugin, count_block);
    qemu_plugin_register_atexit_cb(plugin, write_count, path);
    return 0;
}
