// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/workloads/llama/cpu/llama_rows.h"

#include "trainer/train/model/cpu/exponential.h"

namespace rm {
namespace {

/// Number of partial sums, so that additions can be vectorized in a fixed order.
constexpr int64_t kLanes = 32;

struct Sum {
    float lanes[kLanes] = {};

    float total() const {
        float total = 0;
        for (const float lane : lanes)
            total += lane;
        return total;
    }
};

/// Sum over a row of a(i); `a` is inlined into both loops.
template <class Addend>
inline float sumOf(int64_t columns, Addend addend) {
    Sum sum;
    int64_t i = 0;
    for (; i + kLanes <= columns; i += kLanes)
        for (int64_t lane = 0; lane < kLanes; ++lane)
            sum.lanes[lane] += addend(i + lane);
    for (; i < columns; ++i)
        sum.lanes[i % kLanes] += addend(i);
    return sum.total();
}

/// g, but at least -kMostExponent: below that silu() is as good as 0, and e^-g soon overflows.
inline float notTooSmall(float g) {
    return __builtin_fmaxf(g, -kMostExponent);
}

/// e^-g
inline float decay(float g) {
    return exponential(__builtin_fmaxf(-g, -kMostExponent));
}

} // namespace

void normForward(const NormRows& in, const float* delta, float eps, float* sum, float* normed,
                 float* scales) {
    for (int64_t row = 0; row < in.rows; ++row) {
        const float* __restrict x = in.x + row * in.columns;
        const float* __restrict weight = in.weight;
        float* __restrict out = normed + row * in.columns;
        if (delta) {
            const float* __restrict added = delta + row * in.columns;
            float* __restrict to = sum + row * in.columns;
            for (int64_t i = 0; i < in.columns; ++i)
                to[i] = x[i] + added[i];
            x = to;
        }
        const float squares = sumOf(in.columns, [x](int64_t i) { return x[i] * x[i]; });
        const float scale = 1.0F / __builtin_sqrtf(squares / static_cast<float>(in.columns) + eps);
        scales[row] = scale;
        for (int64_t i = 0; i < in.columns; ++i)
            out[i] = weight[i] * (x[i] * scale);
    }
}

// With h = x s, s = 1 / rms: dx = s (g - h mean(g h)), where g = w dy, and dw = sum of h dy.
void normBackward(const NormRows& in, const float* scales, const float* dNormed, const float* ofSum,
                  float* dx, float* weightGradient) {
    for (int64_t row = 0; row < in.rows; ++row) {
        const float* __restrict x = in.x + row * in.columns;
        const float* __restrict weight = in.weight;
        const float* __restrict dy = dNormed + row * in.columns;
        const float* __restrict also = ofSum ? ofSum + row * in.columns : nullptr;
        float* __restrict out = dx + row * in.columns;
        float* __restrict sums = weightGradient;
        const float scale = scales[row];
        const float product =
            sumOf(in.columns, [=](int64_t i) { return dy[i] * weight[i] * x[i]; });
        const float share = scale * scale * product / static_cast<float>(in.columns);
        for (int64_t i = 0; i < in.columns; ++i) {
            out[i] = scale * (dy[i] * weight[i] - x[i] * share);
            sums[i] += dy[i] * (x[i] * scale);
        }
        if (also)
            for (int64_t i = 0; i < in.columns; ++i)
                out[i] += also[i];
    }
}

void swiGluForward(int64_t count, const float* gate, const float* up, float* y) {
    const float* __restrict g = gate;
    const float* __restrict u = up;
    float* __restrict out = y;
    for (int64_t i = 0; i < count; ++i) {
        const float v = notTooSmall(g[i]);
        out[i] = v / (1.0F + decay(v)) * u[i];
    }
}

// silu(g) = g s with s = 1 / (1 + e), silu' = s (1 + g (1 - s)); 1 - s = e s loses no digits.
void swiGluBackward(int64_t count, const float* gate, const float* up, const float* dy,
                    float* dGate, float* dUp) {
    const float* __restrict g = gate;
    const float* __restrict u = up;
    const float* __restrict d = dy;
    float* __restrict ofGate = dGate;
    float* __restrict ofUp = dUp;
    for (int64_t i = 0; i < count; ++i) {
        const float v = notTooSmall(g[i]);
        const float e = decay(v);
        const float s = 1.0F / (1.0F + e);
        ofUp[i] = d[i] * (v * s);
        ofGate[i] = d[i] * u[i] * (s * (1.0F + v * (e * s)));
    }
}

void turnHeads(const HeadsOfPosition& position, const float* from, float* to) {
    const float* cosine = position.cosine;
    const float* sine = position.sine;
    const int64_t half = position.halfDim;
    const float sign = position.backwards ? -1.0F : 1.0F;
    for (int64_t head = 0; head < position.heads; ++head) {
        const float* in = from + 2 * head * half;
        float* out = to + 2 * head * half;
#pragma GCC ivdep // in place, every number is read before it is overwritten
        for (int64_t i = 0; i < half; ++i) {
            const float a = in[i], b = in[i + half], s = sign * sine[i];
            out[i] = a * cosine[i] - b * s;
            out[i + half] = b * cosine[i] + a * s;
        }
    }
}

} // namespace rm
