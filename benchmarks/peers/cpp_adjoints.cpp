// Derivatives as someone writes them by hand in C++: little is kept, nothing is computed twice.
// Memory belongs to the caller, who also knows the sizes.

#include <cmath>
#include <cstring>
#include <vector>

extern "C" {

// Gradient of a mixture of `count` Gaussians in `size` dimensions, of n points. A row of `factors`
// has the logarithms of a diagonal, and then the columns below it.
void mixture_loop(const double *weights, const double *means, const double *factors,
                  const double *points, long n, long count, long size, double *weights_bar,
                  double *means_bar, double *factors_bar) {
    const long width = size * (size + 1) / 2;
    std::vector<double> scales(count * size), traces(count), logs(count), mass(count, 0.0);
    std::vector<double> centred(count * size), projected(count * size), bar(size);
    std::memset(means_bar, 0, count * size * sizeof(double));
    std::memset(factors_bar, 0, count * width * sizeof(double));
    double norm = 0.0;
    for (long j = 0; j < count; ++j) {
        traces[j] = weights[j];
        for (long a = 0; a < size; ++a) {
            scales[j * size + a] = std::exp(factors[j * width + a]);
            traces[j] += factors[j * width + a];
        }
        norm += std::exp(weights[j]);
    }
    for (long i = 0; i < n; ++i) {
        const double *point = points + i * size;
        double top = -INFINITY, sum = 0.0;
        for (long j = 0; j < count; ++j) {
            double *c = &centred[j * size], *p = &projected[j * size];
            const double *below = factors + j * width + size;
            for (long a = 0; a < size; ++a) {
                c[a] = point[a] - means[j * size + a];
                p[a] = scales[j * size + a] * c[a];
            }
            for (long a = 0; a < size; ++a)
                for (long b = a + 1; b < size; ++b) p[b] += *below++ * c[a];
            double square = 0.0;
            for (long a = 0; a < size; ++a) square += p[a] * p[a];
            logs[j] = traces[j] - 0.5 * square;
            top = std::fmax(top, logs[j]);
        }
        for (long j = 0; j < count; ++j) sum += logs[j] = std::exp(logs[j] - top);
        for (long j = 0; j < count; ++j) {
            const double share = logs[j] / sum;
            const double *c = &centred[j * size], *p = &projected[j * size];
            const double *below = factors + j * width + size;
            double *below_bar = factors_bar + j * width + size;
            mass[j] += share;
            for (long a = 0; a < size; ++a) bar[a] = share * p[a];
            for (long a = 0; a < size; ++a) {
                double along = scales[j * size + a] * bar[a];
                factors_bar[j * width + a] -= along * c[a];
                for (long b = a + 1; b < size; ++b) {
                    *below_bar++ -= bar[b] * c[a];
                    along += *below++ * bar[b];
                }
                means_bar[j * size + a] += along;
            }
        }
    }
    for (long j = 0; j < count; ++j) {
        weights_bar[j] = mass[j] - n * std::exp(weights[j]) / norm;
        for (long a = 0; a < size; ++a) factors_bar[j * width + a] += mass[j];
    }
}

// Jacobian of where cameras see points. A row has ten entries, of the camera and of the point:
// all rows of the first coordinates, and then those of the second ones.
void bundle_adjustment(const double *unknowns, long cameras, const long *camera, const long *point,
                       long m, double *entries) {
    for (long k = 0; k < m; ++k) {
        const double *pose = unknowns + 7 * camera[k];
        const double *X = unknowns + 7 * cameras + 3 * point[k];
        const double angle = std::sqrt(pose[0] * pose[0] + pose[1] * pose[1] + pose[2] * pose[2]);
        const double w[3] = {pose[0] / angle, pose[1] / angle, pose[2] / angle};
        const double s = std::sin(angle), c = std::cos(angle);
        const double across[3] = {w[1] * X[2] - w[2] * X[1], w[2] * X[0] - w[0] * X[2],
                                  w[0] * X[1] - w[1] * X[0]};
        const double along = w[0] * X[0] + w[1] * X[1] + w[2] * X[2];
        double seen[3];
        for (int i = 0; i < 3; ++i)
            seen[i] = c * X[i] + s * across[i] + (1.0 - c) * along * w[i] + pose[3 + i];
        const double scale = std::exp(pose[6]) / seen[2];
        for (int row = 0; row < 2; ++row) {
            double *out = entries + 10 * (row * m + k);
            double g[3] = {0.0, 0.0, -scale * seen[row] / seen[2]};
            g[row] = scale;
            const double gw = g[0] * w[0] + g[1] * w[1] + g[2] * w[2];
            const double gx = g[0] * X[0] + g[1] * X[1] + g[2] * X[2];
            const double ga = g[0] * across[0] + g[1] * across[1] + g[2] * across[2];
            const double angle_bar = -s * gx + c * ga + s * along * gw;
            const double turned[3] = {X[1] * g[2] - X[2] * g[1], X[2] * g[0] - X[0] * g[2],
                                      X[0] * g[1] - X[1] * g[0]};
            const double back[3] = {g[1] * w[2] - g[2] * w[1], g[2] * w[0] - g[0] * w[2],
                                    g[0] * w[1] - g[1] * w[0]};
            double axis_bar[3];
            for (int i = 0; i < 3; ++i)
                axis_bar[i] = s * turned[i] + (1.0 - c) * (gw * X[i] + along * g[i]);
            const double radial = axis_bar[0] * w[0] + axis_bar[1] * w[1] + axis_bar[2] * w[2];
            for (int i = 0; i < 3; ++i) {
                out[i] = angle_bar * w[i] + (axis_bar[i] - radial * w[i]) / angle;
                out[3 + i] = g[i];
                out[7 + i] = c * g[i] + s * back[i] + (1.0 - c) * gw * w[i];
            }
            out[6] = scale * seen[row];
        }
    }
}

static void product(const double *A, const double *B, double *C) {
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            C[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
}

// Jacobian of points on `fingers` of four bones, m points on each, by all angles.
void hand(const double *angles, const double *points, long fingers, long m, double *jacobian) {
    const long width = 4 * fingers;
    const double tilt[9] = {1.0, 0.0, 0.0, 0.0, 0.8, -0.6, 0.0, 0.6, 0.8};
    std::memset(jacobian, 0, fingers * 12 * m * width * sizeof(double));
    for (long finger = 0; finger < fingers; ++finger) {
        double turn[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, turns[4][9], places[4][3];
        for (int joint = 0; joint < 4; ++joint) {
            const double c = std::cos(angles[4 * finger + joint]);
            const double s = std::sin(angles[4 * finger + joint]);
            const double axis[9] = {c, -s, 0, s, c, 0, 0, 0, 1}, slope[9] = {-s, -c, 0, c, -s, 0,
                                                                             0, 0, 0};
            double step[9], next[9];
            product(slope, tilt, next);
            product(turn, next, turns[joint]);
            std::memset(places[joint], 0, sizeof places[joint]);
            product(axis, tilt, step);
            for (int q = 0; q < joint; ++q) {
                for (int i = 0; i < 3; ++i) places[q][i] += turns[q][3 * i + 2];
                product(turns[q], step, next);
                std::memcpy(turns[q], next, sizeof next);
            }
            product(turn, step, next);
            std::memcpy(turn, next, sizeof next);
            double *row = jacobian + (4 * finger + joint) * 3 * m * width + 4 * finger;
            const double *X = points + joint * 3 * m;
            for (long k = 0; k < m; ++k, X += 3)
                for (int i = 0; i < 3; ++i, row += width)
                    for (int q = 0; q <= joint; ++q)
                        row[q] = turns[q][3 * i] * X[0] + turns[q][3 * i + 1] * X[1]
                                 + turns[q][3 * i + 2] * X[2] + places[q][i];
        }
    }
}

// Gradient of a cell of n units: W is (4, n, n + 1), b is (4, n).
void lstm(const double *W, const double *b, const double *inputs, const double *targets, long n,
          long steps, double *W_bar, double *b_bar) {
    const long width = n + 1, block = n * width;
    std::vector<double> tape(steps * 4 * n), h((steps + 1) * n, 0.0), c((steps + 1) * n, 0.0);
    std::vector<double> h_bar(n, 0.0), before(n), c_bar(n, 0.0);
    for (long t = 0; t < steps; ++t) {
        double *kept = &tape[t * 4 * n];
        const double *state = &h[t * n];
        for (long i = 0; i < n; ++i) {
            double gates[4];
            for (int q = 0; q < 4; ++q) {
                const double *row = W + q * block + i * width;
                double sum = b[q * n + i] + row[n] * inputs[t];
                for (long j = 0; j < n; ++j) sum += row[j] * state[j];
                gates[q] = q == 3 ? std::tanh(sum) : 1.0 / (1.0 + std::exp(-sum));
                kept[q * n + i] = gates[q];
            }
            c[(t + 1) * n + i] = c[t * n + i] * gates[0] + gates[3] * gates[1];
            h[(t + 1) * n + i] = std::tanh(c[(t + 1) * n + i]) * gates[2];
        }
    }
    std::memset(W_bar, 0, 4 * block * sizeof(double));
    std::memset(b_bar, 0, 4 * n * sizeof(double));
    for (long t = steps - 1; t >= 0; --t) {
        const double *kept = &tape[t * 4 * n], *state = &h[t * n];
        h_bar[0] += 2.0 * (h[(t + 1) * n] - targets[t]);
        std::fill(before.begin(), before.end(), 0.0);
        for (long i = 0; i < n; ++i) {
            const double f = kept[i], g = kept[n + i], o = kept[2 * n + i], z = kept[3 * n + i];
            const double out = h[(t + 1) * n + i] / o;  // the tanh of the cell
            const double cell = c_bar[i] + h_bar[i] * o * (1.0 - out * out);
            const double bars[4] = {cell * c[t * n + i] * f * (1.0 - f), cell * z * g * (1.0 - g),
                                    h_bar[i] * out * o * (1.0 - o), cell * g * (1.0 - z * z)};
            c_bar[i] = cell * f;
            for (int q = 0; q < 4; ++q) {
                const double *row = W + q * block + i * width;
                double *row_bar = W_bar + q * block + i * width;
                for (long j = 0; j < n; ++j) {
                    row_bar[j] += bars[q] * state[j];
                    before[j] += bars[q] * row[j];
                }
                row_bar[n] += bars[q] * inputs[t];
                b_bar[q * n + i] += bars[q];
            }
        }
        h_bar.swap(before);
    }
}
}
