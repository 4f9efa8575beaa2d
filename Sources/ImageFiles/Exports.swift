// Types of the module below that are part of the public API.
@_exported import class ImageCodecs.DecodingLimits
