# Unverified: this formula has not been installed on a Mac. It builds the last commit of a clone. In the clone:
#   brew tap-new local/swiftwing
#   cp Distributed/homebrew/swiftwing-sim.rb "$(brew --repository local/swiftwing)/Formula/"
#   HOMEBREW_SWIFTWING_CLONE=$PWD brew install --HEAD local/swiftwing/swiftwing-sim
class SwiftwingSim < Formula
  desc "Load and fault tests of Talaria with virtual phones"
  # A formula must have one. This domain is reserved for examples (RFC 2606).
  homepage "https://swiftwing-sim.example/"
  license "MIT"
  head "file://#{ENV.fetch("HOMEBREW_SWIFTWING_CLONE", Dir.pwd)}", using: :git, branch: "main"

  depends_on "pkgconf" => :build
  # Swift 6.3.
  depends_on xcode: ["26.4", :build]
  depends_on "curl"
  depends_on "jpeg-turbo"
  depends_on "libevent"
  depends_on "libyaml"
  depends_on macos: :sequoia
  depends_on "msgpack"
  depends_on "openssl@3"
  depends_on "zeromq"

  uses_from_macos "zlib"

  def install
    # SwiftPM's own sandbox cannot be started in that of Homebrew.
    system "make", "install", "FLAGS=--disable-sandbox", "PREFIX=#{prefix}"
  end

  test do
    assert_match "swiftwing-sim", shell_output("#{bin}/swiftwing-sim --version")
    assert_match "built in", shell_output("#{bin}/swiftwing-sim list")
    system bin/"swiftwing-sim", "simulate", "flaky-network"
  end
end
