// Types of the floors below that are part of this library's public API.
@_exported import struct ImagePipeline.PixelImage
@_exported import enum ImagePipeline.ImageError
@_exported import enum ImagePipeline.PreprocessingStage
@_exported import enum ModelFiles.ModelFileError
