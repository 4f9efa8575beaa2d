// TensorModule
