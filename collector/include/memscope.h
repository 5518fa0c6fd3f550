/* MemScope's recorder for programs in C, C++ and whatever calls C.
 *
 * Link with -lmemscope (libmemscope.so), or load it at run time. Nothing here fails the program: a
 * recorder that could not start is NULL, and every function takes NULL and does nothing with it.
 * Texts are UTF-8, ended by 0; NULL is the empty text. Functions may be called from any thread.
 * Figures that are not known are MEMSCOPE_UNKNOWN, never 0.
 */
#ifndef MEMSCOPE_H
#define MEMSCOPE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MEMSCOPE_ABI_VERSION 1
#define MEMSCOPE_UNKNOWN UINT64_MAX

typedef struct memscope_recorder memscope_recorder;

/* Memory at one moment; bytes, but for the two counts at the end. Set size to sizeof(memscope_figures):
 * later versions add fields at the end. */
typedef struct memscope_figures {
    size_t size;
    uint64_t allocated, reserved, active, requested;
    uint64_t max_allocated, max_reserved;
    uint64_t device_used, device_total, process_used;
    uint64_t retries, ooms;
} memscope_figures;

/* Fills in figures now; whatever it leaves is MEMSCOPE_UNKNOWN. Called at every boundary, from the
 * thread that reached it, with `data` as it was given. */
typedef void (*memscope_probe)(void *data, memscope_figures *figures);

/* MEMSCOPE_ABI_VERSION of the library that is loaded. */
uint32_t memscope_abi_version(void);

/* Starts recording into `directory` (NULL: MEMSCOPE_DIR, else memscope_outputs) as `rank` (negative:
 * what the launcher says). `probe` may be NULL: figures are unknown then. Says on stderr why it cannot,
 * and gives NULL. */
memscope_recorder *memscope_start(const char *directory, int32_t rank, memscope_probe probe, void *data);

/* Writes the end and frees the recorder. `reason`: "exit", "exception", "signal"; NULL is "exit". */
void memscope_finish(memscope_recorder *recorder, const char *reason, const char *error);

void memscope_step_begin(memscope_recorder *recorder);
void memscope_step_end(memscope_recorder *recorder);
void memscope_micro_batch(memscope_recorder *recorder);
void memscope_phase_begin(memscope_recorder *recorder, const char *name);
void memscope_phase_end(memscope_recorder *recorder);

/* A module of the model: gives what memscope_module_end takes. Modules nest by thread. */
uint64_t memscope_module_begin(memscope_recorder *recorder, const char *name);
void memscope_module_end(memscope_recorder *recorder, uint64_t module);

void memscope_sample(memscope_recorder *recorder, const memscope_figures *figures, const char *note);
void memscope_alloc(memscope_recorder *recorder, uint64_t address, uint64_t size, const char *name);
void memscope_free(memscope_recorder *recorder, uint64_t address);
void memscope_oom(memscope_recorder *recorder, uint64_t requested, const char *message);
void memscope_mark(memscope_recorder *recorder, const char *name);
void memscope_metadata(memscope_recorder *recorder, const char *key, const char *value);
void memscope_sync(memscope_recorder *recorder);

#ifdef __cplusplus
}
#endif
#endif
