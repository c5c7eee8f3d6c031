#include <cuda_runtime.h>

__global__ void scale_kernel(float *out, const float *in, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * factor;
}

__global__ void shift_kernel(float *out, float offset, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] += offset;
}

void scale_and_shift(float *out, const float *in, float factor, float offset, int n) {
  int blocks = (n + 255) / 256;
  scale_kernel<<<blocks, 256>>>(out, in, factor, n);
  shift_kernel<<<blocks, 128>>>(out, offset, n);
}
