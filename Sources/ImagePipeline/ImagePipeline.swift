// ImagePipeline
