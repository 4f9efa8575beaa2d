#if !hasFeature(Embedded)
  import ImagePipeline
  import Synchronization
  import SystemModule

  extension Classifier {
    /// Classifies an image on a thread of its own, so that the task that waits for it blocks no other.
    ///
    /// - Parameters:
    ///   - image: at least 32x32; a photograph through a dermatoscope, the lesion in its centre.
    ///   - metadata: ``PatientMetadata/unknown`` where nothing is known.
    ///   - views: how the network looks at the image; ``ImageViews/symmetries`` takes eight runs.
    /// - Throws: ``DermaFusionError/Code/invalidImage`` or ``DermaFusionError/Code/nonFiniteOutput``.
    public func classify(
      _ image: PixelImage, metadata: PatientMetadata = .unknown, views: ImageViews = .upright
    ) async throws(DermaFusionError) -> Classification {
      try await onThread { () throws(DermaFusionError) in
        var timing = ClassificationTiming()
        return try self.classify(
          DecodedImage(image), metadata: metadata, views: views, imageSHA256: nil, timing: &timing
        ).0
      }
    }

    /// What `work` returns, done on a thread of its own.
    package func onThread<Value: Sendable>(
      _ work: @escaping @Sendable () throws(DermaFusionError) -> Value
    ) async throws(DermaFusionError) -> Value {
      let result = await withCheckedContinuation { continuation in
        let perform = { @Sendable in continuation.resume(returning: Result(catching: work)) }
        // A system that refuses another thread leaves this one.
        if !BackgroundThread.start(perform) { perform() }
      }
      return try result.get()
    }

    /// What `classify` makes of each input, in the order of the inputs, each as soon as it and those before it are done.
    /// Images are computed side by side, one on each of the classifier's ``threadCount`` threads.
    ///
    /// ```swift
    /// for await result in classifier.results(of: names, { classifier, name throws(DermaFusionError) in
    ///   try classifier.classify(encodedImage: bytes(of: name))
    /// }) { print(try result.get().summary) }
    /// ```
    ///
    /// - Parameters:
    ///   - inputs: what tells the images: names of files, or images themselves.
    ///   - classify: is called on several threads at once, for no more inputs at a time than four a thread.
    /// - Returns: a sequence with an element for each input. Where it is no longer read, no more inputs are begun.
    public func results<Input: Sendable, Failure: Error>(
      of inputs: [Input],
      _ classify: @escaping @Sendable (Classifier, Input) throws(Failure) -> Classification
    ) -> AsyncStream<Result<Classification, Failure>> {
      AsyncStream { continuation in
        let isUnread = StopFlag()
        continuation.onTermination = { _ in isUnread.raise() }
        let perform = { @Sendable in
          try? self.forEach(
            inputs,
            { (input: Input) in Result { () throws(Failure) in try classify(self, input) } },
            consume: { result throws(CancellationError) in
              if isUnread.isRaised { throw CancellationError() }
              continuation.yield(result)
            })
          continuation.finish()
        }
        if !BackgroundThread.start(perform) { perform() }
      }
    }
  }

  private final class StopFlag: Sendable {
    private let value = Atomic<Bool>(false)
    var isRaised: Bool { value.load(ordering: .relaxed) }
    func raise() { value.store(true, ordering: .relaxed) }
  }
#endif
