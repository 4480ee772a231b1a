// Registers Thermocline's passes: keep-apart with the compiler, first of all; the
// others with the link's optimiser, last of all: contexts -> twins -> annotate
// (docs/internals.md).  All of them by name for opt.
#include "Annotate.h"
#include "Contexts.h"
#include "KeepApart.h"
#include "Options.h"
#include "Twins.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Passes/PassBuilder.h"
#if LLVM_VERSION_MAJOR >= 22
#include "llvm/Plugins/PassPlugin.h"
#else
#include "llvm/Passes/PassPlugin.h"
#endif

using namespace llvm;
using namespace thermocline;

static void addAll(ModulePassManager &passes) {
    Options options = readOptions();
    passes.addPass(ContextsPass(options));
    if (options.twins)
        passes.addPass(TwinsPass(options));
    passes.addPass(AnnotatePass(options));
}

static bool addByName(StringRef name, ModulePassManager &passes) {
    if (name == "thermocline-contexts")
        passes.addPass(ContextsPass(readOptions()));
    else if (name == "thermocline-twins")
        passes.addPass(TwinsPass(readOptions()));
    else if (name == "thermocline-annotate")
        passes.addPass(AnnotatePass(readOptions()));
    else if (name == "thermocline-keep-apart")
        passes.addPass(KeepApartPass());
    else if (name == "thermocline")
        addAll(passes);
    else
        return false;
    return true;
}

extern "C" LLVM_ATTRIBUTE_WEAK LLVM_ATTRIBUTE_VISIBILITY_DEFAULT PassPluginLibraryInfo
llvmGetPassPluginInfo() {
    return {LLVM_PLUGIN_API_VERSION, "thermocline", LLVM_VERSION_STRING, [](PassBuilder &builder) {
                builder.registerFullLinkTimeOptimizationLastEPCallback(
                    [](ModulePassManager &passes, OptimizationLevel) { addAll(passes); });
                builder.registerPipelineStartEPCallback(
                    [](ModulePassManager &passes, OptimizationLevel) {
                        passes.addPass(KeepApartPass());
                    });
                builder.registerPipelineParsingCallback(
                    [](StringRef name, ModulePassManager &passes,
                       ArrayRef<PassBuilder::PipelineElement>) { return addByName(name, passes); });
            }};
}
