"""The other engines' own forms of a network in 8 bits, from the same photographs as ours."""

import json

from dermafusion_training.data.metadata import encode_metadata
from dermafusion_training.data.sample_images import choose_images, image_batches

PHOTOGRAPHS = 96
SEED = 7


def inputs_of(folder, images, split):
    """A network's inputs by name, one dictionary for each photograph."""
    config = json.loads((folder / "config.json").read_text())
    paths = choose_images(images, split, PHOTOGRAPHS, SEED)
    for batch in image_batches(config, paths, size=1):
        inputs = {"image": batch.numpy()}
        if config["fusion"]:
            inputs["metadata"] = encode_metadata()[0].reshape(1, -1)
        yield inputs


def quantize_for_onnx_runtime(onnx_path, output, inputs):
    """Static quantisation with a scale for each channel of the weights, as ONNX Runtime advises for its CPU kernels."""
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    class Reader(CalibrationDataReader):
        def __init__(self):
            self.remaining = iter(inputs)

        def get_next(self):
            return next(self.remaining, None)

    prepared = f"{output}.prepared"
    quant_pre_process(onnx_path, prepared)
    quantize_static(
        prepared,
        output,
        Reader(),
        quant_format=QuantFormat.QDQ,
        per_channel=True,
        activation_type=QuantType.QUInt8,
        weight_type=QuantType.QInt8,
    )


def quantize_for_openvino(onnx_path, output, inputs):
    """NNCF's quantisation after training, with its defaults for CPUs."""
    import nncf
    import openvino

    model = openvino.Core().read_model(onnx_path)
    openvino.save_model(nncf.quantize(model, nncf.Dataset(inputs), subset_size=len(inputs)), output)


def make_int8_peers(folder, images, split, onnx_path):
    """Writes both beside the ONNX file. Returns their paths by engine."""
    inputs = list(inputs_of(folder, images, split))
    paths = {"ONNX Runtime int8": f"{onnx_path}.int8.onnx", "OpenVINO int8": f"{onnx_path}.int8.xml"}
    quantize_for_onnx_runtime(onnx_path, paths["ONNX Runtime int8"], inputs)
    quantize_for_openvino(onnx_path, paths["OpenVINO int8"], inputs)
    return paths
