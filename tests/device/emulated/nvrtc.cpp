/* SPDX-License-Identifier: BSD-3-Clause */
/* nvrtc.cpp - our own libnvrtc.so.13 for the GPU of cuda.cpp: kernels become a library of C++.
 *
 * An image is \177ELF and the path of the library, which stays in EMULATED_DIR (or /tmp).
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <unistd.h>

extern "C" {
#include "device/cuda/cuda_api.h"
}

#pragma GCC visibility push(default)

struct _nvrtcProgram {
  std::string source, image, log;
};

static std::string folder(void)
{
  const char *asked = getenv("EMULATED_DIR");

  return asked ? asked : "/tmp";
}

static bool run(const std::string &command)
{
  return !system(command.c_str());
}

static std::string contents(const std::string &file)
{
  std::ifstream in(file);

  return std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
}

/* A function to launch each kernel of a source without macros. */
static std::string wrappers(const std::string &source)
{
  static const std::regex kernel("visibility\\(\"default\"\\)[^;{}]*?\\bvoid\\s+(\\w+)\\s*\\(");
  std::string text;

  for (std::sregex_iterator i(source.begin(), source.end(), kernel), end; i != end; ++i) {
    const std::string name = (*i)[1];

    text += "extern \"C\" const int parameters_" + name + " = warp::parameters(" + name + ");\n" +
            "extern \"C\" int emulate_" + name +
            "(const long long *b, const int *t, void **a)\n{\n  return warp::launch([](const long "
            "long *x) { warp::call(" +
            name + ", x); }, b, t, (const long long *)a, " +
            (source.find(" *edges") != std::string::npos ? "true" : "false") + ");\n}\n";
  }
  return text;
}

static const char HEAD[] = "#include \"" EMULATED_WARP "\"\n"
                           "#undef __global__\n"
                           "#define __global__ __attribute__((visibility(\"default\")))\n"
                           "namespace warp {\n"
                           "template <typename... P> constexpr int parameters(void (*)(P...))\n"
                           "{ return sizeof...(P); }\n"
                           "}\n";

static bool build(_nvrtcProgram *p)
{
  const std::string base =
      folder() + "/emulated_" + std::to_string(std::hash<std::string>()(p->source));
  const std::string own = base + "." + std::to_string(getpid()), how = "c++ -std=c++17 -w ";
  const char *level = getenv("EMULATED_LEVEL");
  bool done;

  p->image = "\177ELF" + base + ".so";
  if (!access((base + ".so").c_str(), R_OK)) return true;
  std::ofstream(own + ".cpp") << HEAD << p->source;
  done = run(how + "-E -P '" + own + ".cpp' -o '" + own + ".i' 2>'" + own + ".txt'");
  if (done) {
    std::ofstream(own + ".cpp", std::ios::app) << "\n" << wrappers(contents(own + ".i"));
    done = run( // without -frounding-math gcc 12 makes -0 of 0.0f - (float)0
        how + (level ? level : "-O1") +
        " -shared -fPIC -U_FORTIFY_SOURCE -ffp-contract=off -frounding-math -fno-strict-aliasing '" + own +
        ".cpp' -o '" + own + ".so' 2>'" + own + ".txt' && mv '" + own + ".so' '" + base + ".so'");
  }
  if (!done) p->log = contents(own + ".txt");
  for (const char *tail : {".i", ".txt", ".cpp"})
    if (!getenv("EMULATED_KEEP")) remove((own + tail).c_str());
  return done;
}

extern "C" {

ambit__nvrtc_result nvrtcVersion(int *major, int *minor)
{
  *major = 13;
  *minor = 0;
  return 0;
}

ambit__nvrtc_result nvrtcGetNumSupportedArchs(int *count)
{
  *count = 1;
  return 0;
}

ambit__nvrtc_result nvrtcGetSupportedArchs(int *archs)
{
  archs[0] = 90;
  return 0;
}

ambit__nvrtc_result nvrtcCreateProgram(ambit__nvrtc_program *p, const char *source, const char *,
                                       int, const char *const *, const char *const *)
{
  *p = new _nvrtcProgram{source, "", ""};
  return 0;
}

ambit__nvrtc_result nvrtcDestroyProgram(ambit__nvrtc_program *p)
{
  delete *p;
  *p = NULL;
  return 0;
}

ambit__nvrtc_result nvrtcCompileProgram(ambit__nvrtc_program p, int, const char *const *)
{
  return build(p) ? 0 : 6;
}

ambit__nvrtc_result nvrtcGetProgramLogSize(ambit__nvrtc_program p, size_t *bytes)
{
  *bytes = p->log.size() + 1;
  return 0;
}

ambit__nvrtc_result nvrtcGetProgramLog(ambit__nvrtc_program p, char *log)
{
  strcpy(log, p->log.c_str());
  return 0;
}

ambit__nvrtc_result nvrtcGetCUBINSize(ambit__nvrtc_program p, size_t *bytes)
{
  *bytes = p->image.size() + 1;
  return 0;
}

ambit__nvrtc_result nvrtcGetCUBIN(ambit__nvrtc_program p, char *cubin)
{
  memcpy(cubin, p->image.c_str(), p->image.size() + 1);
  return 0;
}

ambit__nvrtc_result nvrtcGetPTXSize(ambit__nvrtc_program p, size_t *bytes)
{
  return nvrtcGetCUBINSize(p, bytes);
}

ambit__nvrtc_result nvrtcGetPTX(ambit__nvrtc_program p, char *ptx)
{
  return nvrtcGetCUBIN(p, ptx);
}

const char *nvrtcGetErrorString(ambit__nvrtc_result r)
{
  return r ? "NVRTC_ERROR_COMPILATION" : "no error";
}
}
