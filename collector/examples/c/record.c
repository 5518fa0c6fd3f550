/* Records three steps of a program that counts its own memory.
 *   cc record.c -I collector/include -L target/release -lmemscope -o record && ./record FOLDER */
#include <memscope.h>
#include <stdio.h>

static uint64_t held;

static void figures(void *data, memscope_figures *f) {
    (void)data;
    f->allocated = held;
    f->reserved = 1 << 20;
}

int main(int argc, char **argv) {
    memscope_recorder *r = memscope_start(argc > 1 ? argv[1] : NULL, 3, figures, NULL);
    if (memscope_abi_version() != MEMSCOPE_ABI_VERSION) return 3;
    if (!r) return 2;
    memscope_metadata(r, "optimizer", "none");
    for (int step = 0; step < 3; step++) {
        memscope_step_begin(r);
        memscope_phase_begin(r, "forward");
        uint64_t module = memscope_module_begin(r, "encoder");
        held += 1000;
        memscope_alloc(r, 0x7f0000000000u + (uint64_t)step * 4096, 1000, "state");
        memscope_module_end(r, module);
        memscope_phase_end(r);
        memscope_step_end(r);
    }
    memscope_free(r, 0x7f0000000000u);
    memscope_figures known = {.size = sizeof(memscope_figures), .allocated = 7, .reserved = MEMSCOPE_UNKNOWN,
        .active = MEMSCOPE_UNKNOWN, .requested = MEMSCOPE_UNKNOWN, .max_allocated = MEMSCOPE_UNKNOWN,
        .max_reserved = MEMSCOPE_UNKNOWN, .device_used = MEMSCOPE_UNKNOWN, .device_total = MEMSCOPE_UNKNOWN,
        .process_used = MEMSCOPE_UNKNOWN, .retries = MEMSCOPE_UNKNOWN, .ooms = 0};
    memscope_sample(r, &known, "by hand");
    memscope_oom(r, 1u << 30, "no room");
    memscope_finish(r, NULL, NULL);
    memscope_finish(NULL, NULL, NULL);
    memscope_step_begin(NULL);
    puts("done");
    return 0;
}
