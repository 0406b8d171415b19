import numpy as np


def softmax(scores):
    e = np.exp(scores - np.max(scores, axis=1, keepdims=True))
    return e / np.sum(e, axis=1, keepdims=True)


def attention(Q, K, V):
    weights = softmax(Q @ K.T / np.sqrt(Q.shape[1]))
    return np.sum((weights @ V) ** 2)


rng = np.random.default_rng(0)
call(attention, *(rng.normal(size=(4, 3)) for _ in range(3)), argnums=(0, 1, 2))
# output
import numpy as np


def attention_grad(Q, K, V):
    """Return the gradient of `attention` with respect to Q, K, V."""
    # attention.py:10  weights = softmax(Q @ K.T / np.sqrt(Q.shape[1]))
    sqrt = np.sqrt(Q.shape[1])
    quotient = Q @ K.T / sqrt
    e = np.exp(quotient - np.max(quotient, axis=1, keepdims=True))
    weights = e / np.sum(e, axis=1, keepdims=True)

    # reverse of attention.py:11
    product = 2 * (weights @ V)
    weights_bar = product @ V.T
    V_bar = weights.T @ product
    # reverse of attention.py:10
    product_bar = (
        (weights_bar - (weights_bar * weights).sum(axis=1, keepdims=True)) * weights / sqrt
    )
    Q_bar = product_bar @ K
    K_bar = product_bar.T @ Q
    return Q_bar, K_bar, V_bar
