"""Classifies dermoscopy images and shows where the network looked.

DermaFusion is a research and educational tool. It is NOT a medical device and has NOT been approved by the FDA or any
regulatory authority. Results should NOT be used for self-diagnosis. Always consult a qualified dermatologist for skin
concerns.

    from dermafusion import Classifier

    classifier = Classifier()
    result = classifier.classify("lesion.jpg", age=55, sex="male", site="back")
    print(result)
"""

from ._version import __version__
from .classifier import Classifier, Image
from .errors import (
    ArgumentError,
    ClosedError,
    DermaFusionError,
    ExplanationError,
    FolderNotFoundError,
    ImageError,
    ImageNotFoundError,
    LibraryError,
    MetadataError,
    ModelError,
    ModelNotFoundError,
    OutputError,
    VersionError,
    WriteError,
)
from .many import Classifications
from .result import Classification, Heatmap, to_frame

__all__ = [
    "ArgumentError",
    "Classification",
    "Classifications",
    "Classifier",
    "ClosedError",
    "DermaFusionError",
    "ExplanationError",
    "FolderNotFoundError",
    "Heatmap",
    "Image",
    "ImageError",
    "ImageNotFoundError",
    "LibraryError",
    "MetadataError",
    "ModelError",
    "ModelNotFoundError",
    "OutputError",
    "VersionError",
    "WriteError",
    "__version__",
    "to_frame",
]
