// KernelInterface
