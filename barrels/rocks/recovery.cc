#include "recovery.h"

#include <memory>
#include <string>

#include "rocksdb/listener.h"
#include "rocksdb/options.h"
#include "rocksdb/version.h"

#if ROCKSDB_MAJOR >= 8
namespace {

class NoRecovery : public rocksdb::EventListener {
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason, rocksdb::Status,
                            bool *auto_recovery) override {
    *auto_recovery = false;
  }
};

}  // namespace
#endif

// rocksdb_options_t consists of rocksdb::Options; C has no listeners.
extern "C" void adshard_no_recovery(rocksdb_options_t *options) {
#if ROCKSDB_MAJOR >= 8
  auto *o = reinterpret_cast<rocksdb::Options *>(options);
  o->listeners.push_back(std::make_shared<NoRecovery>());
#else
  (void)options;
#endif
}

extern "C" int adshard_same_rocksdb(void) {
  return rocksdb::GetRocksVersionAsString(false) ==
         std::to_string(ROCKSDB_MAJOR) + "." + std::to_string(ROCKSDB_MINOR);
}
