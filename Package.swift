// swift-tools-version: 6.2
import PackageDescription

/// SwiftPM refuses a versioned dependency whose targets carry unsafe flags. The kernel modules get
/// their instruction-set flags only where this package is built as the root; as a dependency the same
/// sources build without them, and the choice at run time notices (see `Sources/TensorModule/KernelChoice.swift`).
/// A dependency lies in `checkouts/NAME` or `registry/downloads/SCOPE/NAME/VERSION` of the folder of its products.
let folders = Context.packageDirectory.split(separator: "/")
let isRootPackage =
  folders.dropLast().last != "checkouts"
  && Array(folders.dropLast(3).suffix(2)) != ["registry", "downloads"]

#if arch(x86_64)
  let isX86 = true
#else
  let isX86 = false
#endif

func kernelSettings(define: String, targetFeatures: [String]) -> [SwiftSetting] {
  var settings: [SwiftSetting] = [.define(define), .enableExperimentalFeature("BuiltinModule")]
  if isRootPackage {
    let features = isX86 ? targetFeatures.flatMap { ["-Xcc", "-m\($0)"] } : []
    // Optimised as a whole in debug builds too: an unoptimised kernel is a thousand times slower than the product.
    let optimisation = ["-Ounchecked", "-disable-batch-mode", "-wmo", "-num-threads", "2"]
    settings.append(.unsafeFlags(features + optimisation, .when(platforms: [.linux, .macOS])))
  }
  return settings
}

/// `Scripts/test` asks for it. Whoever only builds may have a compiler that warns of more.
let warningsAsErrors: [SwiftSetting] =
  isRootPackage && Context.environment["DERMAFUSION_WARNINGS_AS_ERRORS"] != nil
  ? [.unsafeFlags(["-warnings-as-errors"])] : []

/// For loops over every pixel: unoptimised, the tests on photographs would take minutes.
let optimizedInDebugBuilds: [SwiftSetting] =
  isRootPackage ? [.unsafeFlags(["-O"], .when(configuration: .debug))] : []

let package = Package(
  name: "DermaFusion",
  platforms: [.macOS(.v26)],
  products: [
    .library(name: "DermaFusion", targets: ["DermaFusion"]),
    .executable(name: "dermafusion", targets: ["CommandLineTool"]),
  ],
  targets: [
    // Public API
    .target(
      name: "DermaFusion",
      dependencies: [
        "ExplanationModule", "FigureModule", "NetworkModule", "ImagePipeline", "ModelFiles", "TensorModule",
        "KernelInterface",
      ],
      swiftSettings: warningsAsErrors),

    // Command line
    .executableTarget(
      name: "CommandLineTool", dependencies: ["Commands"], swiftSettings: warningsAsErrors),
    .target(
      name: "Commands", dependencies: ["CommandLineSupport", "DermaFusion", "Assessment"],
      swiftSettings: warningsAsErrors),
    .target(name: "CommandLineSupport", swiftSettings: warningsAsErrors),
    .target(
      name: "Assessment",
      dependencies: [
        "DermaFusion", "ExplanationModule", "NetworkModule", "ImagePipeline", "ModelFiles", "TensorModule",
        "KernelInterface",
      ],
      swiftSettings: warningsAsErrors),

    // Implementation details
    .target(
      name: "ExplanationModule", dependencies: ["NetworkModule", "TensorModule", "KernelInterface"],
      swiftSettings: warningsAsErrors),
    .target(name: "FigureModule", dependencies: ["ImagePipeline"], swiftSettings: warningsAsErrors),
    .target(
      name: "NetworkModule", dependencies: ["ModelFiles", "TensorModule", "KernelInterface"],
      swiftSettings: warningsAsErrors),
    .target(
      name: "ImagePipeline", dependencies: ["CPNG", "CJPEG"],
      swiftSettings: warningsAsErrors + optimizedInDebugBuilds),
    .target(name: "ModelFiles", dependencies: ["SHA256Instructions"], swiftSettings: warningsAsErrors),
    .target(
      name: "TensorModule",
      dependencies: ["KernelsBaseline", "KernelsAVX2", "KernelsAVX512", "KernelInterface", "CCPUFeatures"],
      swiftSettings: warningsAsErrors + [.enableUpcomingFeature("InternalImportsByDefault")]),

    // One kernel source, compiled once per instruction set
    .target(name: "KernelInterface", swiftSettings: warningsAsErrors),
    .target(
      name: "KernelsBaseline", dependencies: ["KernelInterface", "CCPUFeatures"],
      swiftSettings: kernelSettings(define: "KERNEL_BASELINE", targetFeatures: [])),
    .target(
      name: "KernelsAVX2", dependencies: ["KernelInterface", "CCPUFeatures"],
      swiftSettings: kernelSettings(define: "KERNEL_AVX2", targetFeatures: ["avx2", "fma"])),
    .target(
      name: "KernelsAVX512", dependencies: ["KernelInterface", "CCPUFeatures"],
      swiftSettings: kernelSettings(
        define: "KERNEL_AVX512",
        targetFeatures: ["avx512f", "avx512vl", "avx512bw", "avx512dq", "avx2", "fma"])),

    .target(
      name: "SHA256Instructions", dependencies: ["CCPUFeatures"],
      swiftSettings: isRootPackage && isX86
        ? kernelSettings(define: "SHA256_INSTRUCTIONS", targetFeatures: ["sha", "ssse3", "sse4.1"]) : []),

    // C modules: headers only
    .systemLibrary(
      name: "CPNG", pkgConfig: "libpng", providers: [.apt(["libpng-dev"]), .brew(["libpng"])]),
    .systemLibrary(
      name: "CJPEG", pkgConfig: "libjpeg",
      providers: [.apt(["libjpeg-dev"]), .brew(["jpeg-turbo"])]),
    .systemLibrary(name: "CCPUFeatures"),

    // For the unit tests only. Optimised in debug builds too: the plain loops would take minutes.
    .target(
      name: "ReferenceLayers", path: "Tests/ReferenceLayers",
      swiftSettings: warningsAsErrors + (isRootPackage ? [.unsafeFlags(["-O"])] : [])),
    .target(name: "TestFiles", path: "Tests/TestFiles", swiftSettings: warningsAsErrors),

    // Unit test bundles
    .testTarget(
      name: "ImagePipelineTests", dependencies: ["ImagePipeline", "ModelFiles", "ReferenceLayers"]),
    .testTarget(name: "ModelFilesTests", dependencies: ["ModelFiles", "ReferenceLayers"]),
    .testTarget(
      name: "TensorModuleTests",
      dependencies: ["TensorModule", "ReferenceLayers", "KernelInterface", "CCPUFeatures"]),
    .testTarget(
      name: "DermaFusionTests",
      dependencies: [
        "DermaFusion", "ExplanationModule", "FigureModule", "NetworkModule", "ImagePipeline", "ModelFiles",
        "TensorModule", "KernelInterface", "ReferenceLayers",
      ]),
    .testTarget(
      name: "AssessmentTests",
      dependencies: [
        "Assessment", "DermaFusion", "ExplanationModule", "NetworkModule", "ImagePipeline", "ModelFiles",
      ]),
    .testTarget(
      name: "CommandsTests",
      dependencies: [
        "Commands", "CommandLineSupport", "Assessment", "DermaFusion", "ExplanationModule", "FigureModule",
        "NetworkModule", "ImagePipeline", "ModelFiles", "TestFiles",
      ]),
    .testTarget(name: "CommandLineSupportTests", dependencies: ["CommandLineSupport", "TestFiles"]),
  ],
  swiftLanguageModes: [.v6]
)
