// swift-tools-version: 6.2
import PackageDescription

// Switches of the environment, set by Scripts/test --sanitize thread and by Scripts/checks/fuzz.
let sanitizesThreads = Context.environment["DERMAFUSION_THREAD_SANITIZER"] != nil
let hasFuzzTargets = Context.environment["DERMAFUSION_FUZZ"] != nil

#if arch(x86_64)
  let architecture = "x86-64"
#elseif arch(arm64)
  let architecture = "arm64"
#else
  let architecture = "another"
#endif

enum Extra {
  /// Code that leaves the memory that Swift checks is marked `unsafe`.
  case memorySafe
  /// For loops over every pixel, which take minutes in the tests without it.
  case optimizedInDebugBuilds
  case internalImports
}

/// Compiles a module as a whole, as a release does. In a debug build, optimised code takes a fifth less time so than in batches
/// of files.
let wholeModule = ["-disable-batch-mode", "-wmo", "-num-threads", "2"]

/// The settings of every Swift target. A release holds no path of the machine that built it.
func settings(_ name: String, _ extras: [Extra] = []) -> [SwiftSetting] {
  var settings: [SwiftSetting] = [
    .unsafeFlags(["-file-prefix-map", "\(Context.packageDirectory)=."], .when(configuration: .release))
  ]
  // Swift reports each change of an inout array to ThreadSanitizer, which makes kernels a thousand times slower.
  if sanitizesThreads, !name.hasPrefix("Kernels") {
    settings.append(.unsafeFlags(["-sanitize=thread", "-DTHREAD_SANITIZER"]))
  }
  for extra in extras {
    switch extra {
    case .memorySafe: settings.append(.strictMemorySafety())
    case .optimizedInDebugBuilds:
      settings.append(.unsafeFlags(["-O"] + wholeModule, .when(configuration: .debug)))
    case .internalImports: settings.append(.enableUpcomingFeature("InternalImportsByDefault"))
    }
  }
  return settings
}

let sanitizerLinking: [LinkerSetting] = sanitizesThreads ? [.unsafeFlags(["-sanitize=thread"])] : []

func module(
  _ name: String, _ dependencies: [Target.Dependency] = [], path: String? = nil, exclude: [String] = [],
  _ extras: Extra..., also: [SwiftSetting] = []
) -> Target {
  .target(
    name: name, dependencies: dependencies, path: path, exclude: exclude,
    swiftSettings: settings(name, extras) + also, linkerSettings: sanitizerLinking)
}

/// A module compiled for instructions that not every machine has.
/// - Parameter features: the C compiler's names of the instructions, which exist on `theirs` only.
func kernels(
  _ name: String, define: String..., features: [String], of theirs: String = "x86-64", exclude: [String] = [],
  _ dependencies: [Target.Dependency] = ["KernelInterface", "CBuiltins"]
) -> Target {
  var also: [SwiftSetting] = define.map { .define($0) } + [.enableExperimentalFeature("BuiltinModule")]
  if architecture == theirs, !features.isEmpty {
    // Some of their instructions have no other spelling.
    also.append(.define("KERNEL_HAS_ITS_INSTRUCTIONS", .when(platforms: [.linux, .macOS])))
    also.append(
      .unsafeFlags(features.flatMap { ["-Xcc", "-m\($0)"] }, .when(platforms: [.linux, .macOS])))
  }
  // Optimised as a whole in debug builds too: an unoptimised kernel is a thousand times slower than the product.
  also.append(.unsafeFlags(["-Ounchecked"] + wholeModule, .when(platforms: [.linux, .macOS, .iOS])))
  return module(name, dependencies, exclude: exclude, also: also)
}

/// A test bundle. Its folder is `Tests/NAME`.
func tests(_ name: String, _ dependencies: [Target.Dependency], _ extras: Extra...) -> Target {
  .testTarget(
    name: name, dependencies: dependencies, swiftSettings: settings(name, extras),
    linkerSettings: sanitizerLinking)
}

func executable(
  _ name: String, _ dependencies: [Target.Dependency], path: String? = nil, exclude: [String] = [],
  cSettings: [CSetting] = []
) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies, path: path, exclude: exclude, cSettings: cSettings,
    swiftSettings: settings(name, [.memorySafe]),
    // Tables that nobody can write to once the program runs.
    linkerSettings: sanitizerLinking + [
      .unsafeFlags(
        ["-Xlinker", "-z", "-Xlinker", "relro", "-Xlinker", "-z", "-Xlinker", "now"],
        .when(platforms: [.linux]))
    ])
}

let avx512 = ["avx512f", "avx512vl", "avx512bw", "avx512dq", "avx2", "fma"]

/// The modules that the network needs, and those that read it from files.
let engine: [Target.Dependency] = ["NetworkModule", "TensorModule", "KernelInterface"]
/// The classifier on image files, and their codecs.
let imageFiles: [Target.Dependency] = ["ImageFiles", "ImageCodecs"]
/// Pixels, model files and the system.
let ground: [Target.Dependency] = ["ImagePipeline", "Files", "SystemModule"]

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
    module("DermaFusion", engine + ground, .memorySafe, .optimizedInDebugBuilds),
    module("Figures", ["DermaFusion"] + ground, .memorySafe, .optimizedInDebugBuilds),
    module("ImageFiles", ["DermaFusion", "Figures", "ImageCodecs"] + ground),

    // Doors: a web page (built by Scripts/web and, for other machines too, by Scripts/checks/platforms), C and by it
    // Python, the command line
    module("Browser", ["DermaFusion", "NetworkModule"] + ground),
    module("CInterface", ["CDermaFusion", "DermaFusion", "Figures"] + imageFiles + ground),
    executable("CommandLineTool", ["Commands"]),
    module(
      "Commands", ["DermaFusion", "Figures", "Evaluation"] + imageFiles + ground,
      exclude: ["schema"],
      // They run once a command or an image. Optimised they are no faster, and take a fifth of the build's time.
      also: [.unsafeFlags(["-Onone"], .when(configuration: .release))]),
    module("Evaluation", ["DermaFusion", "ImageCodecs"] + engine + ground, .optimizedInDebugBuilds),

    // Implementation details
    module("NetworkModule", ["TensorModule", "KernelInterface"] + ground, .optimizedInDebugBuilds),
    module(
      "Files", ["ImagePipeline", "SystemModule", "SHA256Instructions"], .memorySafe, .optimizedInDebugBuilds),
    // Needs no network, so that both are compiled side by side.
    module("ImageCodecs", ["CPNG", "CJPEG", "CImageLibraries"] + ground, .optimizedInDebugBuilds),
    module(
      "ImagePipeline", ["SystemModule"], .memorySafe, .optimizedInDebugBuilds,
      also: [.enableExperimentalFeature("BuiltinModule")]),
    module(
      "TensorModule",
      [
        "KernelsBaseline", "KernelsAVX2", "KernelsAVXVNNI", "KernelsAVX512", "KernelsDotProduct",
        "KernelInterface", "SystemModule", "CBuiltins",
      ], .internalImports, .optimizedInDebugBuilds),
    // The only module that imports the C library, Dispatch or a lock.
    module("SystemModule", ["CBuiltins", "CLibrary"], .memorySafe),
    module("CLibrary"),

    // One kernel source, compiled once per instruction set
    module("KernelInterface"),
    kernels(
      "KernelsBaseline", define: "KERNEL_BASELINE", features: [], exclude: ["README.md", "NOTEBOOK.md"]),
    kernels("KernelsAVX2", define: "KERNEL_AVX2", features: ["avx2", "fma"]),
    // AVX2's products of 8 bits on CPUs with AVX-VNNI
    kernels(
      "KernelsAVXVNNI", define: "KERNEL_AVX2", "KERNEL_DOT_PRODUCT", features: ["avx2", "fma", "avxvnni"]),
    kernels("KernelsAVX512", define: "KERNEL_AVX512", features: avx512),
    // The products of values that an instruction adds up: 8 bits and bfloat16
    architecture == "arm64"
      ? kernels(
        "KernelsDotProduct", define: "KERNEL_DOT_PRODUCT", features: ["arch=armv8.2-a+dotprod"], of: "arm64")
      : kernels(
        "KernelsDotProduct", define: "KERNEL_AVX512", "KERNEL_DOT_PRODUCT",
        features: avx512 + ["avx512vnni", "avx512bf16"]),
    architecture == "x86-64"
      ? kernels(
        "SHA256Instructions", define: "SHA256_INSTRUCTIONS", features: ["sha", "ssse3", "sse4.1"],
        ["CBuiltins"])
      : module("SHA256Instructions", ["CBuiltins"]),

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

    // For the unit tests only. The plain loops take minutes where they are not optimised.
    module("ReferenceLayers", path: "Tests/ReferenceLayers", .optimizedInDebugBuilds),
    module("TestFiles", path: "Tests/TestFiles"),
    module(
      "TestModels", ["DermaFusion"] + engine + ground, path: "Tests/TestModels", .optimizedInDebugBuilds),
    module(
      "TestImages", ["ImagePipeline", "ReferenceLayers"], path: "Tests/TestImages", .optimizedInDebugBuilds),

    // Unit test bundles
    tests("SystemModuleTests", ["SystemModule", "TestFiles"]),
    tests("FilesTests", ["ReferenceLayers"] + ground),
    tests(
      "ImageCodecsTests",
      ["DermaFusion", "Evaluation", "TestImages", "TestFiles", "ReferenceLayers"] + imageFiles + ground),
    tests("ImagePipelineTests", ["ImagePipeline", "TestImages", "ReferenceLayers"]),
    tests(
      "TensorModuleTests",
      ["TensorModule", "ReferenceLayers", "KernelInterface", "SystemModule", "CBuiltins", "TestModels"],
      .optimizedInDebugBuilds),
    tests("NetworkModuleTests", ["ReferenceLayers", "TestModels"] + engine + ground),
    tests(
      "DermaFusionTests",
      ["DermaFusion", "Figures", "ReferenceLayers", "TestFiles", "TestModels", "TestImages"]
        + imageFiles + engine + ground),
    tests(
      "EvaluationTests",
      ["Evaluation", "DermaFusion", "TestModels", "TestImages"] + imageFiles + ground),
    tests(
      "CommandsTests",
      ["Commands", "Evaluation", "DermaFusion", "Figures", "TestFiles", "TestImages", "TestModels"]
        + imageFiles + engine + ground),
    tests("FiguresTests", ["Figures", "ImagePipeline"], .optimizedInDebugBuilds),
    // A program in C, which the tests run.
    executable(
      "CExample", ["CInterface"], path: "Tests/CExample",
      cSettings: [.headerSearchPath("../../Sources/CDermaFusion")]),
    tests(
      "CInterfaceTests",
      ["CDermaFusion", "CInterface", "CExample", "DermaFusion", "TestFiles", "TestModels"]
        + imageFiles + ground),
  ],
  swiftLanguageModes: [.v6]
)

// libFuzzer's targets
if hasFuzzTargets {
  package.targets.append(
    executable(
      "FuzzTargets", ["Commands", "DermaFusion", "ImageCodecs"] + ground, path: "Scripts/fuzz",
      exclude: ["arguments", "config", "csv", "jpeg", "png", "safetensors"].map { "\($0).dict" }))
}
