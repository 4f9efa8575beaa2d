// DermaFusion
