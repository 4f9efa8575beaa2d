import SystemModule
import TestImages
import Testing

@testable import ImagePipeline

/// timm's evaluation transform as timm 1.0.31, torchvision 0.28 and Pillow 13.0 compute it.
@Suite struct FramingTests {
  /// An image of whole numbers alone, the same in Python.
  private static func formula(width: Int, height: Int) -> PixelImage {
    PixelImage(
      width: width, height: height,
      pixels: (0..<width * height * 3).map { index in
        let (c, x, y) = (index % 3, index / 3 % width, index / 3 / width)
        let value =
          x * 7 + y * 13 + c * 31 + (x * y) % 17 * 9 + (x * x / 5 + y * y / 3) * (c + 1)
        return UInt8(value % 256)
      })
  }

  /// FNV-1a of 64 bits.
  private static func hash(_ bytes: [UInt8]) -> UInt64 {
    bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }

  /// The hash of all pixels and the values of two neighbours in the middle, from Python.
  @Test(
    arguments: [
      (.center, 0.875, 64, .bicubic, 100, 75, 0x7d5b_b54e_8b51_fd23, [104, 41, 121, 70, 43, 154]),
      (.center, 0.95, 47, .lanczos, 61, 133, 0x2a51_09d9_ccad_7abc, [222, 128, 120, 255, 155, 131]),
      (.center, 1.0, 40, .bilinear, 40, 97, 0x4a7f_a7e5_c2d9_5280, [148, 3, 114, 136, 255, 118]),
      (.center, 0.9, 50, .bicubic, 50, 33, 0x13a1_5f43_e39c_2c90, [158, 138, 118, 163, 149, 135]),
      (.center, 0.875, 33, .lanczos, 33, 400, 0x25ac_490b_1b61_f56b, [1, 106, 208, 220, 81, 201]),
      (.squash, 0.9, 48, .bicubic, 37, 120, 0x0151_03d7_0bbc_8a5d, [138, 135, 166, 186, 154, 165]),
      (.squash, 1.0, 40, .lanczos, 97, 35, 0x00b8_aa35_dcb4_7c08, [110, 114, 166, 203, 86, 162]),
      (.squash, 0.875, 35, .bilinear, 40, 40, 0x704a_1646_d196_e62e, [96, 63, 30, 129, 104, 79]),
      (.border, 1.0, 48, .bicubic, 120, 37, 0x78fe_70ec_85fb_7fd9, [115, 112, 100, 184, 125, 125]),
      (.border, 0.8, 47, .lanczos, 35, 90, 0x83de_8554_5aec_2c8d, [156, 171, 122, 92, 114, 138]),
      (.border, 0.93, 40, .bilinear, 43, 64, 0x04ce_c0d2_6132_4588, [99, 81, 115, 110, 106, 146]),
      (.border, 1.0, 41, .bicubic, 32, 200, 0x074a_31ae_94c5_d7e6, [118, 103, 114, 145, 135, 101]),
    ] as [(Framing.CropMode, Double, Int, Interpolation, Int, Int, UInt64, [UInt8])])
  func equalsTimm(
    mode: Framing.CropMode, share: Double, size: Int, interpolation: Interpolation, width: Int, height: Int,
    hash: UInt64, middle: [UInt8]
  ) throws {
    let preprocessor = Preprocessor(
      PreprocessingConfiguration(
        size: size, colorConstancy: .none, mean: [0.485, 0.456, 0.406],
        standardDeviation: [0.229, 0.224, 0.225], framing: .timm(mode, share: share),
        interpolation: interpolation))
    let resized = try preprocessor(Self.formula(width: width, height: height)).resized
    let place = (size / 2 * size + size / 2) * 3
    #expect(Array(resized.pixels[place..<place + 6]) == middle)
    #expect(
      Self.hash(resized.pixels) == hash, "\(mode) \(share) \(interpolation) \(width)x\(height) to \(size)")
  }

  @Test(arguments: Interpolation.allCases)
  func aWindowOfAResizedImageIsThatOfTheWhole(interpolation: Interpolation) {
    for (width, height, across, down) in [
      (61, 47, 38, 40), (23, 90, 44, 31), (50, 50, 50, 70), (40, 40, 90, 40),
    ] {
      let image = PixelImage.noise(width: width, height: height, seed: UInt64(width))
      let region = ImageResizer.Region(left: 0, top: 0, width: width, height: height)
      let whole = ImageResizer.resize(
        image, region: region, width: across, height: down, interpolation: interpolation)
      let size = 29
      let (left, top) = (across - size - 1, 2)
      let frame = Frame(
        region: region, width: across, height: down,
        window: .init(left: left, top: top, width: size, height: size), size: size)
      let window = ImageResizer.resize(image, frame, interpolation: interpolation, fill: [1, 2, 3])
      expectEqual(
        window,
        ImageResizer.resize(
          whole, region: .init(left: left, top: top, width: size, height: size), width: size, height: size),
        "\(width)x\(height), \(interpolation), seed \(width)")
    }
  }

  /// The lobes below 0 of bicubic and Lanczos are clipped on both sides.
  @Test func overshootsAreClipped() {
    let image = PixelImage(
      width: 8, height: 8, pixels: (0..<192).map { $0 / 3 % 8 < 4 ? 0 : 255 })
    let whole = ImageResizer.Region(left: 0, top: 0, width: 8, height: 8)
    for interpolation in [Interpolation.bicubic, .lanczos] {
      let large = ImageResizer.resize(
        image, region: whole, width: 40, height: 40, interpolation: interpolation)
      #expect(large.pixels[0] == 0 && large.pixels[39 * 3] == 255)
      #expect(large.pixels.contains { $0 > 0 && $0 < 255 })
      #expect(large.pixels[..<45].allSatisfy { $0 < 20 }, "an overflow below 0 shows as white")
    }
  }

  @Test func aPictureShowsWhatTheNetworkSees() throws {
    let image = Self.formula(width: 120, height: 90)
    for mode in Framing.CropMode.allCases {
      let preprocessor = Preprocessor(
        PreprocessingConfiguration(
          size: 36, colorConstancy: .none, mean: [0.5, 0.5, 0.5], standardDeviation: [1, 1, 1],
          framing: .timm(mode, share: 0.9), interpolation: .bicubic))
      let result = try preprocessor(image)
      // The same frame at the network's size gives the network's pixels.
      expectEqual(result.picture(side: 36), result.resized, "\(mode)")
      #expect(result.cropped.width == (mode == .center ? 81 : 108))
      #expect(result.picture(side: 50).width == 50)
    }
  }

  @Test func aBorderIsNoPartOfWhatIsMeasured() throws {
    let preprocessor = Preprocessor(
      PreprocessingConfiguration(
        size: 64, colorConstancy: .none, mean: [0.9, 0.5, 0.1], standardDeviation: [1, 1, 1],
        framing: .timm(.border, share: 1), interpolation: .bilinear))
    let result = try preprocessor(.solid(width: 128, height: 40, 7, 7, 7))
    #expect(!result.resized.isSolid && result.unbordered.isSolid)
    // Python rounds 255 x 0.9 = 229.5 and 255 x 0.5 = 127.5 to even numbers, 25.5 to 26.
    #expect(Array(result.resized.pixels[..<3]) == [230, 128, 26])
  }

  /// A narrow image that is squeezed or framed has a square of its longer side: 100,000 x 1,000 pixels would take 30 GB.
  @Test(arguments: [Framing.CropMode.squash, .border])
  func aSquareOfALongImageIsBounded(mode: Framing.CropMode) throws {
    let preprocessor = Preprocessor(
      PreprocessingConfiguration(
        size: 64, colorConstancy: .none, mean: [0.5, 0.5, 0.5], standardDeviation: [1, 1, 1],
        framing: .timm(mode, share: 1), interpolation: .bicubic))
    let long = try preprocessor(.solid(width: 40_000, height: 40, 9, 8, 7))
    // As many pixels as the image has.
    #expect(long.boundedSquare.width == 1264)
    #expect(
      throws: DermaFusionError.invalidImage(
        "the square at the image's own resolution is too large: of 40000x40 pixels it is 40000x40000, more than 178956970 pixels"
      )
    ) { try long.requireCroppedSize(limit: PixelLimit.count) }
    let usual = try preprocessor(.solid(width: 120, height: 90, 9, 8, 7))
    try usual.requireCroppedSize(limit: 14_400)
    #expect(throws: DermaFusionError.self) { try usual.requireCroppedSize(limit: 14_399) }
    #expect(usual.boundedSquare.width == 103 && usual.cropped.width == 120)
  }
}
