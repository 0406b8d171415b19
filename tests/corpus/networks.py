"""Layers of neural networks, the way they are written without a framework."""

import numpy as np

from tests.corpus.program import Program


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def relu(x):
    return np.maximum(x, 0.0)


def conv1d(signal, kernel, stride=2):
    n, k = len(signal), len(kernel)
    out = np.zeros((n - k) // stride + 1)
    for i in range(len(out)):
        start = i * stride
        out[i] = np.sum(signal[start : start + k] * kernel)
    return out


def conv2d(image, kernel):
    H, W = image.shape
    kh, kw = kernel.shape
    out = np.zeros((H - kh + 1, W - kw + 1))
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = np.sum(image[i : i + kh, j : j + kw] * kernel)
    return out


def conv_pool_dense(image, kernel, bias, w):
    """Convolution, rectifier, maximum over 2 by 2 tiles, and a linear readout."""
    features = relu(conv2d(image, kernel) + bias)
    pooled = np.empty((features.shape[0] // 2, features.shape[1] // 2))
    for i in range(pooled.shape[0]):
        for j in range(pooled.shape[1]):
            pooled[i, j] = np.max(features[2 * i : 2 * i + 2, 2 * j : 2 * j + 2])
    return pooled.ravel() @ w


def average_pool(image, size=2):
    h, w = image.shape
    out = np.zeros((h // size, w // size))
    for i in range(h // size):
        for j in range(w // size):
            total = 0.0
            for a in range(size):
                for b in range(size):
                    total += image[i * size + a, j * size + b]
            out[i, j] = total / size**2
    return out


def im2col_conv(images, filters, bias, pad=1):
    """Convolution of a batch (n, c, h, w) as one matrix product."""
    n, c, h, w = images.shape
    f, _, kh, kw = filters.shape
    padded = np.pad(images, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    oh, ow = h + 2 * pad - kh + 1, w + 2 * pad - kw + 1
    cols = np.zeros((n, c, kh, kw, oh, ow))
    for y in range(kh):
        for x in range(kw):
            cols[:, :, y, x, :, :] = padded[:, :, y : y + oh, x : x + ow]
    cols = cols.transpose(0, 4, 5, 1, 2, 3).reshape(n * oh * ow, -1)
    out = cols @ filters.reshape(f, -1).T + bias
    return out.reshape(n, oh, ow, f).transpose(0, 3, 1, 2)


def batch_norm_epochs(batches, gamma, beta, momentum):
    """Normalise batches for training, then one with the running statistics."""
    running_mean = np.zeros(batches.shape[2])
    running_var = np.ones(batches.shape[2])
    total = 0.0
    for X in batches:
        mean = X.mean(axis=0)
        var = X.var(axis=0)
        running_mean[:] = momentum * running_mean + (1 - momentum) * mean
        running_var[:] = momentum * running_var + (1 - momentum) * var
        out = gamma * (X - mean) / np.sqrt(var + 1e-5) + beta
        total += np.sum(out**3)
    inference = gamma * (batches[0] - running_mean) / np.sqrt(running_var + 1e-5) + beta
    return total + np.sum(inference**2)


def layer_norm(x, gain, bias, eps=1e-5):
    mean = np.mean(x, axis=-1, keepdims=True)
    centered = x - mean
    variance = np.mean(centered * centered, axis=-1, keepdims=True)
    return gain * centered / np.sqrt(variance + eps) + bias


def mlp_with_dropout(layers, X, y, keep=0.7, seed=0):
    rng = np.random.default_rng(seed)
    a = X
    for i, (W, b) in enumerate(layers):
        a = a @ W + b
        if i < len(layers) - 1:
            a = np.tanh(a)
            mask = rng.random(a.shape) < keep
            a *= mask / keep
    return np.mean((a[:, 0] - y) ** 2)


def mlp_swish(params, X):
    """A network of a list of dicts, with a skip connection where the widths agree."""
    activations = [X]
    for layer in params:
        h = activations[-1]
        z = h @ layer["weight"] + layer["bias"]
        out = z * sigmoid(layer["slope"] * z)
        if out.shape == h.shape:
            out += h
        activations.append(out)
    return np.sum(activations[-1] ** 2) + 0.01 * sum(np.sum(a) for a in activations[1:-1])


def vanilla_rnn(Wx, Wh, b, xs):
    T, hidden = len(xs), len(b)
    h = np.zeros((T + 1, hidden))
    for t in range(T):
        h[t + 1] = np.tanh(Wx @ xs[t] + Wh @ h[t] + b)
    return h[1:]


def lstm_states(W, b, xs, h0):
    """Preallocated arrays of states, and one matrix for the four gates."""
    T, hidden = xs.shape[0], h0.shape[0]
    h = np.zeros((T, hidden))
    c = np.zeros((T, hidden))
    gates = np.zeros((T, 4 * hidden))
    prev_h, prev_c = h0, np.zeros(hidden)
    for t in range(T):
        z = W @ np.concatenate([xs[t], prev_h]) + b
        gates[t, : 3 * hidden] = sigmoid(z[: 3 * hidden])
        gates[t, 3 * hidden :] = np.tanh(z[3 * hidden :])
        i, f, o, g = np.split(gates[t], 4)
        c[t] = f * prev_c + i * g
        h[t] = o * np.tanh(c[t])
        prev_h, prev_c = h[t], c[t]
    return np.sum(h[-1] ** 2) + np.mean(c)


def gru_classifier(params, xs, label):
    Wz, Wr, Wh, V = params
    h = np.zeros(V.shape[1])
    states = []
    for x in xs:
        hx = np.hstack([h, x])
        z = sigmoid(Wz @ hx)
        r = sigmoid(Wr @ hx)
        candidate = np.tanh(Wh @ np.hstack([r * h, x]))
        h = (1 - z) * h + z * candidate
        states.append(h)
    pooled = np.mean(np.array(states), axis=0)
    logits = V @ pooled
    logits -= np.max(logits)
    return np.log(np.sum(np.exp(logits))) - logits[label]


def causal_attention(X, Wq, Wk, Wv, heads=2):
    """Attention with several heads, where the scores of the future are overwritten."""
    T, d = X.shape
    size = d // heads
    future = np.triu(np.ones((T, T), dtype=bool), k=1)
    Q, K, V = X @ Wq, X @ Wk, X @ Wv
    out = np.empty((T, d))
    for head in range(heads):
        cols = slice(head * size, (head + 1) * size)
        scores = Q[:, cols] @ K[:, cols].T / np.sqrt(size)
        scores[future] = -1e9
        scores -= scores.max(axis=1, keepdims=True)
        weights = np.exp(scores)
        weights /= weights.sum(axis=1, keepdims=True)
        out[:, cols] = weights @ V[:, cols]
    return out


def seq2seq_attention(encoder_states, query, W):
    """One step of additive scoring over a Python list of encoder states."""
    scores = [float(query @ W @ state) for state in encoder_states]
    top = max(scores)
    exps = [np.exp(s - top) for s in scores]
    total = sum(exps)
    context = np.zeros_like(query)
    for e, state in zip(exps, encoder_states):
        context += (e / total) * state
    return context @ query


def positional_encoding_sum(X, scale, base=100.0):
    T, d = X.shape
    table = np.zeros((T, d))
    position = np.arange(T)[:, None]
    rate = np.exp(np.arange(0, d, 2) * (-np.log(base) / d))
    table[:, 0::2] = np.sin(position * rate * scale)
    table[:, 1::2] = np.cos(position * rate * scale)
    return np.sum((X + table) ** 2)


def graph_convolution(A, H, W1, W2):
    A_hat = A + np.eye(len(A))
    degree = A_hat.sum(axis=1)
    norm = A_hat / np.sqrt(degree[:, None] * degree[None, :])
    H = np.tanh(norm @ H @ W1)
    return (norm @ H @ W2).sum(axis=0)


def capsule_routing(votes, iterations=3):
    """Routing by agreement between capsules (in, out, size)."""
    n_in, n_out, _ = votes.shape
    logits = np.zeros((n_in, n_out))
    v = np.zeros((n_out, votes.shape[2]))
    for it in range(iterations):
        c = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        for j in range(n_out):
            s = c[:, j] @ votes[:, j]
            norm2 = s @ s
            v[j] = norm2 / (1 + norm2) * s / np.sqrt(norm2)
        if it < iterations - 1:
            for i in range(n_in):
                for j in range(n_out):
                    logits[i, j] += votes[i, j] @ v[j]
    return np.sqrt(np.sum(v**2, axis=1))


def contrastive_loss(A, B, temperature):
    A = A / np.linalg.norm(A, axis=1, keepdims=True)
    B = B / np.linalg.norm(B, axis=1, keepdims=True)
    logits = A @ B.T / temperature
    loss = 0.0
    for i in range(len(logits)):
        row = logits[i] - np.max(logits[i])
        loss += np.log(np.exp(row).sum()) - row[i]
    return loss / len(logits)


def hopfield_retrieval(patterns, state, beta):
    for _ in range(3):
        overlap = patterns @ state
        w = np.exp(beta * (overlap - overlap.max()))
        state = patterns.T @ (w / w.sum())
    return state


def dense(rng, *widths):
    return [
        (rng.normal(size=(m, n)) / np.sqrt(m), 0.1 * rng.normal(size=n))
        for m, n in zip(widths[:-1], widths[1:])
    ]


def swish_layers(rng, *widths):
    return [
        {"weight": 0.5 * W, "bias": b, "slope": float(rng.uniform(0.5, 1.5))}
        for W, b in dense(rng, *widths)
    ]


def distinct_image(rng, *shape):
    """An image whose values are far enough apart that no two compete for a maximum."""
    values = np.linspace(-2.0, 2.0, int(np.prod(shape)))
    return rng.permutation(values).reshape(shape)


PROGRAMS = (
    Program(conv1d, lambda rng: (rng.normal(size=9), rng.normal(size=3)), argnums=(0, 1)),
    Program(conv2d, lambda rng: (rng.normal(size=(5, 4)), rng.normal(size=(2, 3))), argnums=(0, 1)),
    Program(
        conv_pool_dense,
        lambda rng: (distinct_image(rng, 5, 5), rng.normal(size=(2, 2)), 0.5, rng.normal(size=4)),
        argnums=(0, 1, 2, 3),
    ),
    Program(average_pool, lambda rng: (rng.normal(size=(4, 6)),), argnums=(0,)),
    Program(
        im2col_conv,
        lambda rng: (
            rng.normal(size=(2, 2, 3, 3)),
            rng.normal(size=(2, 2, 2, 3)),
            rng.normal(size=2),
        ),
        argnums=(0, 1, 2),
    ),
    Program(
        batch_norm_epochs,
        lambda rng: (rng.normal(size=(3, 4, 2)), rng.normal(size=2), rng.normal(size=2), 0.9),
        argnums=(0, 1, 2, 3),
    ),
    Program(
        layer_norm,
        lambda rng: (rng.normal(size=(3, 4)), rng.normal(size=4), rng.normal(size=4)),
        argnums=(0, 1, 2),
    ),
    Program(
        mlp_with_dropout,
        lambda rng: (dense(rng, 3, 4, 4, 1), rng.normal(size=(5, 3)), rng.normal(size=5)),
        argnums=(0, 1),
    ),
    Program(
        mlp_swish,
        lambda rng: (swish_layers(rng, 3, 3, 2), rng.normal(size=(4, 3))),
        argnums=(0, 1),
    ),
    Program(
        vanilla_rnn,
        lambda rng: (
            rng.normal(size=(3, 2)),
            rng.normal(size=(3, 3)),
            rng.normal(size=3),
            rng.normal(size=(4, 2)),
        ),
        argnums=(0, 1, 2, 3),
    ),
    Program(
        lstm_states,
        lambda rng: (
            rng.normal(size=(8, 4)),
            rng.normal(size=8),
            rng.normal(size=(4, 2)),
            rng.normal(size=2),
        ),
        argnums=(0, 1, 2, 3),
    ),
    Program(
        gru_classifier,
        lambda rng: (
            (
                rng.normal(size=(2, 5)),
                rng.normal(size=(2, 5)),
                rng.normal(size=(2, 5)),
                rng.normal(size=(3, 2)),
            ),
            rng.normal(size=(4, 3)),
            1,
        ),
        argnums=(0, 1),
    ),
    Program(
        causal_attention,
        lambda rng: (
            rng.normal(size=(3, 4)),
            rng.normal(size=(4, 4)),
            rng.normal(size=(4, 4)),
            rng.normal(size=(4, 4)),
        ),
        argnums=(0, 1, 2, 3),
    ),
    Program(
        seq2seq_attention,
        lambda rng: (
            [rng.normal(size=3) for _ in range(4)],
            rng.normal(size=3),
            rng.normal(size=(3, 3)),
        ),
        argnums=(0, 1, 2),
    ),
    Program(positional_encoding_sum, lambda rng: (rng.normal(size=(4, 6)), 0.8), argnums=(0, 1)),
    Program(
        graph_convolution,
        lambda rng: (
            rng.uniform(0.1, 1.0, size=(4, 4)),
            rng.normal(size=(4, 3)),
            rng.normal(size=(3, 3)),
            rng.normal(size=(3, 2)),
        ),
        argnums=(0, 1, 2, 3),
    ),
    Program(capsule_routing, lambda rng: (rng.normal(size=(3, 2, 3)),), argnums=(0,)),
    Program(
        contrastive_loss,
        lambda rng: (rng.normal(size=(4, 3)), rng.normal(size=(4, 3)), 0.5),
        argnums=(0, 1, 2),
    ),
    Program(
        hopfield_retrieval,
        lambda rng: (rng.normal(size=(3, 4)), rng.normal(size=4), 1.3),
        argnums=(0, 1, 2),
    ),
)
