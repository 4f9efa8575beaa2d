// Types of the modules below that are part of this library's public API.
@_exported import enum Files.Malignancy
@_exported import enum Files.Precision
@_exported import enum ImagePipeline.ClassificationWarning
@_exported import enum ImagePipeline.ImageViews
@_exported import struct ImagePipeline.PixelImage
@_exported import struct SystemModule.DermaFusionError
