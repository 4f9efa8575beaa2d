// swift-tools-version: 6.2
import PackageDescription

#if arch(x86_64)
  let architecture = "x86-64"
#elseif arch(arm64)
  let architecture = "arm64"
#else
  let architecture = "another"
#endif

/// - Parameter targetFeatures: what the C compiler calls the instructions, which are those of one architecture.
func kernelSettings(
  define: String, targetFeatures: [String], of theirs: String = "x86-64"
) -> [SwiftSetting] {
  var settings: [SwiftSetting] = [.define(define), .enableExperimentalFeature("BuiltinModule")]
  if architecture == theirs, !targetFeatures.isEmpty {
    // Some of their instructions have no other spelling.
    settings.append(.define("KERNEL_HAS_ITS_INSTRUCTIONS", .when(platforms: [.linux, .macOS])))
    settings.append(
      .unsafeFlags(targetFeatures.flatMap { ["-Xcc", "-m\($0)"] }, .when(platforms: [.linux, .macOS])))
  }
  // Optimised as a whole in debug builds too: an unoptimised kernel is a thousand times slower than the product.
  let optimisation = ["-Ounchecked", "-disable-batch-mode", "-wmo", "-num-threads", "2"]
  settings.append(.unsafeFlags(optimisation, .when(platforms: [.linux, .macOS, .iOS])))
  return settings
}

let avx512 = ["avx512f", "avx512vl", "avx512bw", "avx512dq", "avx2", "fma"]

/// `Scripts/test` asks for it. Whoever only builds may have a compiler that warns of more.
let warningsAsErrors: [SwiftSetting] =
  Context.environment["DERMAFUSION_WARNINGS_AS_ERRORS"] == nil ? [] : [.unsafeFlags(["-warnings-as-errors"])]

/// Whatever may go beyond its memory is marked `unsafe`. For modules in which little or nothing does.
let memorySafe: [SwiftSetting] = warningsAsErrors + [.strictMemorySafety()]

/// For loops over every pixel: unoptimised, the tests on photographs would take minutes.
let optimizedInDebugBuilds: [SwiftSetting] = [.unsafeFlags(["-O"], .when(configuration: .debug))]

let package = Package(
  name: "DermaFusion",
  // The first versions with InlineArray, which the kernels keep their tiles in.
  platforms: [.macOS(.v26), .iOS(.v26)],
  products: [
    .library(name: "DermaFusion", targets: ["DermaFusion", "Figures", "ImageFiles"]),
    // Pixels in memory rather than image files: needs no library beside Swift's own.
    .library(name: "DermaFusionCore", targets: ["DermaFusion", "Figures"]),
    .executable(name: "dermafusion", targets: ["CommandLineTool"]),
    // The functions of dermafusion.h. Scripts/lib/library.sh gives the file its name, its soname and its symbols' version.
    .library(name: "DermaFusionC", type: .dynamic, targets: ["CInterface"]),
  ],
  targets: [
    // Public API
    .target(
      name: "DermaFusion",
      dependencies: [
        "ExplanationModule", "NetworkModule", "ImagePipeline", "ModelFiles", "TensorModule",
        "KernelInterface", "JSONModule", "SystemModule",
      ],
      swiftSettings: memorySafe),
    .target(
      name: "Figures",
      dependencies: ["DermaFusion", "ExplanationModule", "ImagePipeline", "JSONModule"],
      swiftSettings: memorySafe),
    .target(
      name: "ImageFiles",
      dependencies: [
        "DermaFusion", "Figures", "ExplanationModule", "NetworkModule",
        "ImagePipeline", "HashModule", "SystemModule", "CPNG", "CJPEG", "CImageLibraries",
      ],
      swiftSettings: warningsAsErrors + optimizedInDebugBuilds),

    // Functions for a web page. Built for it by Scripts/web and, for other machines too, by Scripts/checks/platforms.
    .target(
      name: "BrowserModule",
      dependencies: [
        "DermaFusion", "ExplanationModule", "NetworkModule", "ImagePipeline", "ModelFiles", "JSONModule",
        "HashModule",
      ],
      swiftSettings: warningsAsErrors),

    // For C, and by it for Python
    .target(
      name: "CInterface",
      dependencies: [
        "CDermaFusion", "DermaFusion", "Figures", "ImageFiles", "ExplanationModule", "ImagePipeline",
        "JSONModule", "SystemModule",
      ],
      swiftSettings: warningsAsErrors),

    // Command line
    .executableTarget(
      name: "CommandLineTool", dependencies: ["Commands"], swiftSettings: memorySafe),
    .target(
      name: "Commands",
      dependencies: [
        "CommandLineSupport", "DermaFusion", "Figures", "ImageFiles", "HashModule",
        "ImagePipeline", "Assessment", "ExplanationModule", "JSONModule", "SystemModule",
      ],
      swiftSettings: warningsAsErrors),
    .target(
      name: "CommandLineSupport", dependencies: ["JSONModule", "SystemModule"], swiftSettings: memorySafe),
    .target(
      name: "Assessment",
      dependencies: [
        "DermaFusion", "ExplanationModule", "ImageFiles", "NetworkModule", "ImagePipeline", "ModelFiles",
        "TensorModule", "KernelInterface", "JSONModule", "HashModule", "SystemModule",
      ],
      swiftSettings: warningsAsErrors),

    // Implementation details
    .target(
      name: "ExplanationModule",
      dependencies: ["NetworkModule", "TensorModule", "KernelInterface", "SystemModule"],
      swiftSettings: warningsAsErrors),
    .target(
      name: "NetworkModule",
      dependencies: ["ModelFiles", "ImagePipeline", "TensorModule", "KernelInterface", "SystemModule"],
      swiftSettings: warningsAsErrors),
    .target(
      name: "ImagePipeline", dependencies: ["SystemModule"],
      swiftSettings: warningsAsErrors + optimizedInDebugBuilds),
    .target(
      name: "ModelFiles", dependencies: ["ImagePipeline", "JSONModule", "HashModule", "SystemModule"],
      swiftSettings: memorySafe),
    .target(
      name: "TensorModule",
      dependencies: [
        "KernelsBaseline", "KernelsAVX2", "KernelsAVX512", "KernelsDotProduct", "KernelInterface",
        "SystemModule", "CBuiltins",
      ],
      swiftSettings: warningsAsErrors + [.enableUpcomingFeature("InternalImportsByDefault")]),
    .target(name: "JSONModule", swiftSettings: memorySafe),
    .target(
      name: "HashModule", dependencies: ["SHA256Instructions"],
      swiftSettings: warningsAsErrors + optimizedInDebugBuilds),
    // The only module that imports the C library, Dispatch or a lock.
    .target(
      name: "SystemModule", dependencies: ["CBuiltins"], swiftSettings: warningsAsErrors),

    // One kernel source, compiled once per instruction set
    .target(name: "KernelInterface", swiftSettings: warningsAsErrors),
    .target(
      name: "KernelsBaseline", dependencies: ["KernelInterface", "CBuiltins"], exclude: ["README.md"],
      swiftSettings: kernelSettings(define: "KERNEL_BASELINE", targetFeatures: [])),
    .target(
      name: "KernelsAVX2", dependencies: ["KernelInterface", "CBuiltins"],
      swiftSettings: kernelSettings(define: "KERNEL_AVX2", targetFeatures: ["avx2", "fma"])),
    .target(
      name: "KernelsAVX512", dependencies: ["KernelInterface", "CBuiltins"],
      swiftSettings: kernelSettings(define: "KERNEL_AVX512", targetFeatures: avx512)),
    // The products of values that an instruction adds up: 8 bits and bfloat16
    .target(
      name: "KernelsDotProduct", dependencies: ["KernelInterface", "CBuiltins"],
      swiftSettings: architecture == "arm64"
        ? kernelSettings(
          define: "KERNEL_DOT_PRODUCT", targetFeatures: ["arch=armv8.2-a+dotprod"], of: "arm64")
        : kernelSettings(define: "KERNEL_AVX512", targetFeatures: avx512 + ["avx512vnni", "avx512bf16"])
          + [.define("KERNEL_DOT_PRODUCT")]),

    .target(
      name: "SHA256Instructions", dependencies: ["CBuiltins"],
      swiftSettings: architecture == "x86-64"
        ? kernelSettings(define: "SHA256_INSTRUCTIONS", targetFeatures: ["sha", "ssse3", "sse4.1"]) : []),

    // C modules: headers only
    .systemLibrary(
      name: "CPNG", pkgConfig: "libpng", providers: [.apt(["libpng-dev"]), .brew(["libpng"])]),
    .systemLibrary(
      name: "CJPEG", pkgConfig: "libjpeg",
      providers: [.apt(["libjpeg-dev"]), .brew(["jpeg-turbo"])]),
    // Links nothing: the libraries are opened at run time, where they are there.
    .systemLibrary(name: "CImageLibraries"),
    .systemLibrary(name: "CBuiltins"),
    .systemLibrary(name: "CDermaFusion"),

    // For the unit tests only. Optimised in debug builds too: the plain loops would take minutes.
    .target(
      name: "ReferenceLayers", path: "Tests/ReferenceLayers",
      swiftSettings: warningsAsErrors + [.unsafeFlags(["-O"])]),
    .target(name: "TestFiles", path: "Tests/TestFiles", swiftSettings: warningsAsErrors),
    .target(
      name: "TestModels",
      dependencies: [
        "DermaFusion", "ImagePipeline", "ModelFiles", "NetworkModule", "TensorModule",
        "KernelInterface", "SystemModule",
      ],
      path: "Tests/TestModels", swiftSettings: warningsAsErrors + optimizedInDebugBuilds),

    .target(
      name: "TestImages", dependencies: ["ImagePipeline", "ReferenceLayers"], path: "Tests/TestImages",
      swiftSettings: warningsAsErrors + [.unsafeFlags(["-O"])]),

    // Unit test bundles
    .testTarget(name: "SystemModuleTests", dependencies: ["SystemModule", "TestFiles"]),
    .testTarget(name: "JSONModuleTests", dependencies: ["JSONModule"]),
    .testTarget(name: "HashModuleTests", dependencies: ["HashModule", "ReferenceLayers"]),
    .testTarget(
      name: "ImageFilesTests",
      dependencies: [
        "ImageFiles", "ImagePipeline", "HashModule", "ModelFiles", "SystemModule", "TestImages",
        "ReferenceLayers",
      ]),
    .testTarget(
      name: "ImagePipelineTests", dependencies: ["ImagePipeline", "TestImages", "ReferenceLayers"]),
    .testTarget(
      name: "ModelFilesTests", dependencies: ["ModelFiles", "ImagePipeline", "HashModule", "ReferenceLayers"]),
    .testTarget(
      name: "TensorModuleTests",
      dependencies: [
        "TensorModule", "ReferenceLayers", "KernelInterface", "SystemModule", "CBuiltins", "TestModels",
      ]),
    .testTarget(
      name: "DermaFusionTests",
      dependencies: [
        "DermaFusion", "ExplanationModule", "Figures", "ImageFiles", "NetworkModule", "ImagePipeline",
        "ModelFiles", "TensorModule", "KernelInterface", "JSONModule",
        "HashModule",
        "SystemModule", "ReferenceLayers", "TestFiles", "TestModels", "TestImages",
      ]),
    .testTarget(
      name: "AssessmentTests",
      dependencies: [
        "Assessment", "DermaFusion", "ExplanationModule", "ImageFiles", "ImagePipeline", "JSONModule",
        "HashModule", "TestModels",
      ]),
    .testTarget(
      name: "CommandsTests",
      dependencies: [
        "Commands", "CommandLineSupport", "Assessment", "DermaFusion",
        "Figures", "ImageFiles", "NetworkModule", "ImagePipeline", "ModelFiles",
        "TensorModule", "JSONModule", "HashModule", "SystemModule", "TestFiles", "TestModels",
      ]),
    .testTarget(
      name: "FiguresTests", dependencies: ["Figures", "ImagePipeline"]),
    .testTarget(
      name: "CommandLineSupportTests", dependencies: ["CommandLineSupport", "SystemModule", "TestFiles"]),
    // A program in C, which the tests run.
    .executableTarget(
      name: "CExample", dependencies: ["CInterface"], path: "Tests/CExample",
      cSettings: [.headerSearchPath("../../Sources/CDermaFusion")]),
    .testTarget(
      name: "CInterfaceTests",
      dependencies: [
        "CDermaFusion", "CInterface", "CExample", "DermaFusion", "ImageFiles", "SystemModule", "TestFiles",
        "TestModels",
      ]),
  ],
  swiftLanguageModes: [.v6]
)

/// What is handed on: no paths of the machine that built it, and tables that nobody can write to once the program runs.
for target in package.targets where [.regular, .executable].contains(target.type) {
  var settings: [SwiftSetting] = target.swiftSettings ?? []
  settings.append(
    .unsafeFlags(
      ["-file-prefix-map", "\(Context.packageDirectory)=."], .when(configuration: .release)))
  target.swiftSettings = settings
  if target.type == .executable {
    target.linkerSettings = [
      .unsafeFlags(
        ["-Xlinker", "-z", "-Xlinker", "relro", "-Xlinker", "-z", "-Xlinker", "now"],
        .when(platforms: [.linux]))
    ]
  }
}

/// `Scripts/test --sanitize thread` asks for it: ThreadSanitizer everywhere but in the kernels. Swift reports each change of
/// an inout array to it, and so makes the kernels a thousand times slower.
if Context.environment["DERMAFUSION_THREAD_SANITIZER"] != nil {
  for target in package.targets where ![.system, .plugin, .binary].contains(target.type) {
    if !target.name.hasPrefix("Kernels") {
      target.swiftSettings =
        (target.swiftSettings ?? []) + [.unsafeFlags(["-sanitize=thread", "-DTHREAD_SANITIZER"])]
    }
    target.linkerSettings = (target.linkerSettings ?? []) + [.unsafeFlags(["-sanitize=thread"])]
  }
}

/// `Scripts/checks/fuzz` asks for them: libFuzzer's targets, which nothing else builds.
if Context.environment["DERMAFUSION_FUZZ"] != nil {
  package.targets.append(
    .executableTarget(
      name: "FuzzTargets",
      dependencies: [
        "CommandLineSupport", "Commands", "ImageFiles", "ImagePipeline", "JSONModule", "ModelFiles",
      ],
      path: "Scripts/fuzz",
      exclude: ["arguments", "config", "csv", "jpeg", "png", "safetensors"].map { "\($0).dict" }))
}
