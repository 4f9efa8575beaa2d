#if !hasFeature(Embedded)
  import ImagePipeline
  import SystemModule

  extension Classifier {
    /// Classifies an image on a thread that is not Swift's, so that the task that waits for it blocks no other. As
    /// many calls are computed at once as there are processors, in their order.
    ///
    /// - Parameters:
    ///   - image: at least 32x32; a photograph through a dermatoscope, the lesion in its centre.
    ///   - metadata: ``PatientMetadata/unknown`` where nothing is known.
    ///   - views: how the network looks at the image; ``ImageViews/symmetries`` takes eight runs.
    /// - Throws: ``DermaFusionError/Code/invalidImage`` or ``DermaFusionError/Code/nonFiniteOutput``.
    public func classify(
      _ image: PixelImage, metadata: PatientMetadata = .unknown, views: ImageViews = .upright
    ) async throws(DermaFusionError) -> Classification {
      let result = await withCheckedContinuation { continuation in
        Self.tasks.run {
          continuation.resume(
            returning: Result { () throws(DermaFusionError) in
              try self.classify(image, metadata: metadata, views: views)
            })
        }
      }
      return try result.get()
    }

    /// As many at once as there are processors: more would take more memory and no less time.
    private static let tasks = WorkQueue(limit: ProcessorCount.available())

    /// The results of `classify`, in the order of the inputs, each as soon as it and those before it are done.
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
    ) -> ClassificationResults<Failure> {
      let demand = ReaderDemand(limit: 4 * threadCount)
      let stream = AsyncStream<Result<Classification, Failure>> { continuation in
        continuation.onTermination = { _ in demand.end() }
        let perform = { @Sendable in
          try? self.forEach(
            inputs,
            { (input: Input) in Result { () throws(Failure) in try classify(self, input) } },
            consume: { result throws(CancellationError) in
              if !demand.awaitReader() { throw CancellationError() }
              continuation.yield(result)
            })
          continuation.finish()
        }
        // A system that refuses another thread leaves this one, on which nobody can read meanwhile.
        if !BackgroundThread.start(perform) {
          demand.lift()
          perform()
        }
      }
      return ClassificationResults(stream: stream, demand: demand)
    }
  }

  /// The results of ``Classifier/results(of:_:)``, in the order of the inputs.
  public struct ClassificationResults<Failure: Error>: AsyncSequence, Sendable {
    fileprivate let stream: AsyncStream<Result<Classification, Failure>>
    fileprivate let demand: ReaderDemand

    /// Takes the results one after the other.
    public struct AsyncIterator: AsyncIteratorProtocol {
      fileprivate var base: AsyncStream<Result<Classification, Failure>>.AsyncIterator
      fileprivate let demand: ReaderDemand

      /// Waits for the next result; `nil` behind the last one.
      public mutating func next() async -> Result<Classification, Failure>? {
        let result = await base.next()
        demand.signalRead()
        return result
      }
    }

    /// Meant for one reader: two share the results between them.
    public func makeAsyncIterator() -> AsyncIterator {
      AsyncIterator(base: stream.makeAsyncIterator(), demand: demand)
    }
  }
#endif
