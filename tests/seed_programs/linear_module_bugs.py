"""Seed 001's Module as it was printed: two bugs, each a plain Python error."""

import torch
import torch.nn as nn


class Linear(nn.Module):
    def __init__(self, input_features, output_features, bias=True):
        super(Linear, self).__init__()
        self.input_features = input_features
        self.output_features = output_features

        self.weight = nn.Parameter(torch.Tensor(output_features, input_features))
        if bias:
            self.bias = nn.Parameter(torch.Tensor(output_features))
        else:
            self.register_parameter('bias', None)

        # Not a very smart way to initialize weights
        self.weight.data.uniform_(-0.1, 0.1)
        if bias is not None:  # bug: False is not None
            self.bias.data.uniform_(-0.1, 0.1)

    def extra_repr(self):
        # bug: these attributes are called input_features and output_features
        return 'in_features={}, out_features={}, bias={}'.format(
            self.in_features, self.out_features, self.bias is not None
        )


try:
    print(Linear(3, 2))
except Exception as error:
    print(type(error).__name__ + ": " + str(error))

try:
    Linear(3, 2, bias=False)
except Exception as error:
    print(type(error).__name__ + ": " + str(error))
