#include "link/shared_memory.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <system_error>
#include <utility>

namespace isochron::link {
namespace {

constexpr const char* prefix = "isochron.";

std::string because(const std::string& what) { return what + ": " + std::generic_category().message(errno); }

bool alive(int pid) { return ::kill(pid, 0) == 0 || errno != ESRCH; }

/// The PID in "isochron.PID.LABEL"; 0 = not one of ours.
int creator_of(const std::string& name) {
  if (!name.starts_with(prefix)) return 0;
  int pid = 0;
  const char* begin = name.c_str() + std::char_traits<char>::length(prefix);
  const char* end = name.c_str() + name.size();
  const auto [at, code] = std::from_chars(begin, end, pid);
  return code == std::errc{} && at != end && *at == '.' ? pid : 0;
}

}  // namespace

Result<SharedMemory, std::string> SharedMemory::map(Fd fd, std::string name, int creator) {
  const std::string what = name.empty() ? "shared memory" : "shared memory `" + name + "`";
  struct stat about {};
  if (::fstat(fd.get(), &about) != 0) return fail(because(what));
  if (about.st_size <= 0) return fail(what + ": it is empty");
  SharedMemory memory;
  memory.name_ = std::move(name);
  memory.creator_ = creator;
  memory.size_ = static_cast<std::size_t>(about.st_size);
  void* at = ::mmap(nullptr, memory.size_, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (at == MAP_FAILED) return fail(because(what));
  memory.data_ = static_cast<std::byte*>(at);
  memory.fd_ = std::move(fd);
  return memory;
}

Result<SharedMemory, std::string> SharedMemory::anonymous(std::size_t bytes) {
  Fd fd(::memfd_create("isochron", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.open()) return fail(because("shared memory"));
  if (::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) return fail(because("shared memory"));
  ::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
  return map(std::move(fd), "", 0);
}

Result<SharedMemory, std::string> SharedMemory::create(const std::string& label, std::size_t bytes) {
  if (label.empty() || label.size() > 200 || label.find('/') != std::string::npos) {
    return fail("`" + label + "` cannot name shared memory; use 1 to 200 characters without `/`");
  }
  const std::string name = prefix + std::to_string(::getpid()) + "." + label;
  Fd fd(::shm_open(("/" + name).c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd.open()) return fail(because("shared memory `" + name + "`"));
  if (::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) {
    auto error = because("shared memory `" + name + "`");
    ::shm_unlink(("/" + name).c_str());
    return fail(std::move(error));
  }
  return map(std::move(fd), name, ::getpid());
}

Result<SharedMemory, std::string> SharedMemory::open(const std::string& name) {
  Fd fd(::shm_open(("/" + name).c_str(), O_RDWR | O_CLOEXEC, 0));
  if (!fd.open()) return fail(because("shared memory `" + name + "`"));
  return map(std::move(fd), name, 0);
}

Result<SharedMemory, std::string> SharedMemory::adopt(Fd fd) { return map(std::move(fd), "", 0); }

int SharedMemory::remove_stale() {
  int removed = 0;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm", ignored)) {
    const std::string name = entry.path().filename();
    const int pid = creator_of(name);
    if (pid > 0 && !alive(pid) && ::shm_unlink(("/" + name).c_str()) == 0) ++removed;
  }
  return removed;
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept { *this = std::move(other); }

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  if (this == &other) return *this;
  unmap();
  fd_ = std::move(other.fd_);
  data_ = std::exchange(other.data_, nullptr);
  size_ = std::exchange(other.size_, 0);
  name_ = std::exchange(other.name_, {});
  creator_ = std::exchange(other.creator_, 0);
  return *this;
}

SharedMemory::~SharedMemory() { unmap(); }

void SharedMemory::unmap() {
  if (data_ == nullptr) return;
  ::munmap(data_, size_);
  data_ = nullptr;
  if (creator_ == ::getpid()) ::shm_unlink(("/" + name_).c_str());
}

Result<MirroredView, std::string> MirroredView::of(const SharedMemory& memory, std::size_t offset, std::size_t bytes) {
  if (offset + bytes > memory.bytes().size()) return fail(std::string("shared memory: it is too small"));
  void* room = ::mmap(nullptr, 2 * bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) return fail(because("shared memory"));
  MirroredView view;
  view.data_ = static_cast<std::byte*>(room);
  view.bytes_ = bytes;
  for (std::byte* at : {view.data_, view.data_ + bytes}) {
    if (::mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memory.fd(), static_cast<off_t>(offset)) ==
        MAP_FAILED) {
      return fail(because("shared memory"));
    }
  }
  return view;
}

MirroredView::MirroredView(MirroredView&& other) noexcept { *this = std::move(other); }

MirroredView& MirroredView::operator=(MirroredView&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

MirroredView::~MirroredView() {
  if (data_ != nullptr) ::munmap(data_, 2 * bytes_);
}

}  // namespace isochron::link
