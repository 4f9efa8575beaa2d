// Why this module exists: JPEG files are read by libjpeg-turbo, whose errors are longjmps that must not cross Swift frames.
#pragma once
#include <stddef.h>
#include <stdio.h>
#include <jpeglib.h>
