// Types of the floors below that are part of this library's public API.
@_exported import struct ExplanationModule.ActivationMap
@_exported import enum ExplanationModule.ActivationMapMethod
@_exported import struct ExplanationModule.MapTrust
@_exported import enum ImagePipeline.ImageViews
@_exported import struct ImagePipeline.PixelImage
@_exported import enum ModelFiles.BodySite
@_exported import enum ModelFiles.Malignancy
@_exported import enum ModelFiles.Sex
