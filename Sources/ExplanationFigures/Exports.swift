// Types of the floors below that are part of this library's public API.
@_exported import enum FigureModule.ColorMap
@_exported import struct FigureModule.FigureStyle
