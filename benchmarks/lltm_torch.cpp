// The step of examples/lltm.cpp for PyTorch, as its C++ tutorial goes about it: forward and backward of tensor
// operations in C++, called from a Function in Python.
#include <torch/extension.h>

#include <vector>

std::vector<torch::Tensor> forward(torch::Tensor input, torch::Tensor weights, torch::Tensor bias, torch::Tensor h,
                                   torch::Tensor cell) {
    auto x = torch::cat({h, input}, 1);
    auto gates = torch::addmm(bias, x, weights.t());
    auto parts = gates.chunk(3, 1);
    auto i = torch::sigmoid(parts[0]), o = torch::sigmoid(parts[1]), g = torch::elu(parts[2]);
    auto new_cell = cell + i * g;
    auto t = torch::tanh(new_cell);
    return {t * o, new_cell, x, i, o, g, t};
}

// Without the gradients by input and state, which a step with new ones does not ask for.
std::vector<torch::Tensor> backward(torch::Tensor grad_h, torch::Tensor grad_cell, torch::Tensor x, torch::Tensor i,
                                    torch::Tensor o, torch::Tensor g, torch::Tensor t) {
    auto d_cell = grad_cell + grad_h * o * (1 - t * t);
    auto d_a = d_cell * g * i * (1 - i);
    auto d_b = grad_h * t * o * (1 - o);
    auto d_c = d_cell * i * (g.clamp_max(0) + 1);
    auto d_gates = torch::cat({d_a, d_b, d_c}, 1);
    return {d_gates.t().mm(x), d_gates.sum(0)};
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward);
    m.def("backward", &backward);
}
