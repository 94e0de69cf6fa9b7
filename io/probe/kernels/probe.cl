// The kernels of the probe, once, in OpenCL C: OpenCL compiles this text, `build.sh` makes `probe.ptx` of it for CUDA.
// Every kernel steps through its data with the size of the grid, so that any grid fits any size.

#ifdef __NVPTX__
// clang knows the language, and no library of it for this target: the registers are asked directly
static uint first(void) {
    return __nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x();
}
static uint all(void) {
    return __nvvm_read_ptx_sreg_nctaid_x() * __nvvm_read_ptx_sreg_ntid_x();
}
#else
static uint first(void) {
    return (uint)get_global_id(0);
}
static uint all(void) {
    return (uint)get_global_size(0);
}
#endif

// The word that belongs at a place; `pattern` in src/gpu/sys/cuda.rs computes the same on the host.
static uint pattern(uint at, uint seed) {
    uint x = (at * 0x9E3779B1u) ^ seed;
    x ^= x >> 16;
    x *= 0x85EBCA6Bu;
    return x ^ (x >> 13);
}

// Writes the pattern over `n` words.
__kernel void lessee_fill(__global uint *to, ulong n, uint seed) {
    for (ulong i = first(); i < n; i += all()) {
        to[i] = pattern((uint)i, seed);
    }
}

// Counts what is not the pattern, one counter a thread: no atomics, which not every device has.
__kernel void lessee_check(__global const uint *data, ulong n, uint seed, __global uint *wrong) {
    uint count = 0;
    for (ulong i = first(); i < n; i += all()) {
        count += data[i] != pattern((uint)i, seed);
    }
    wrong[first()] = count;
}

// Copies `n` times 16 bytes.
__kernel void lessee_copy(__global uint4 *to, __global const uint4 *from, ulong n) {
    for (ulong i = first(); i < n; i += all()) {
        to[i] = from[i];
    }
}

// Adds `n` words, times a factor: a sum over GPUs, and with -1 as the factor what takes it apart again.
__kernel void lessee_add(__global uint *to, __global const uint *from, ulong n, uint factor) {
    for (ulong i = first(); i < n; i += all()) {
        to[i] += from[i] * factor;
    }
}
