#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# release-check.sh: checks whether this commit can be released as the version in CMakeLists.txt, and lists everything
# that is missing. The packages of that version must be in build/package (./run package); ./run test runs the tests.
set -uo pipefail
cd "$(dirname "$0")/../.."
status=0
complain() {
  echo "release-check: $1"
  status=1
}

version=$(sed -nE 's/^project\(tile VERSION ([0-9]+\.[0-9]+\.[0-9]+).*/\1/p' CMakeLists.txt)
[ -n "$version" ] || complain "CMakeLists.txt has no version of the form X.Y.Z"
[ -z "$(git status --porcelain)" ] || complain "there are uncommitted changes"
if git rev-parse -q --verify "refs/tags/v$version" >/dev/null; then
  complain "version $version has a tag already"
fi

# User documentation.
grep -qE "^## $version( |$)" CHANGELOG.md || complain "CHANGELOG.md has no section '## $version'"
if sed -n '/^## Unreleased/,/^## [0-9]/p' CHANGELOG.md | grep -q '^\*'; then
  complain "CHANGELOG.md has changes under 'Unreleased'; move them to '## $version'"
fi
for file in LICENSE README.md CONTRIBUTING.md SECURITY.md CODE_OF_CONDUCT.md; do
  [ -s "$file" ] || complain "there is no $file"
done

# Interface: within an ABI version, symbols may be added but not removed.
previous=$(git describe --tags --abbrev=0 --match 'v*' 2>/dev/null || true)
abi() { sed -nE 's/^#define TILE_ABI_VERSION ([0-9]+)/\1/p'; }
for list in test/Embed/Inputs/*.symbols; do
  [ -n "$previous" ] || break
  gone=$(comm -23 <(git show "$previous:$list" 2>/dev/null | LC_ALL=C sort) <(LC_ALL=C sort "$list"))
  if [ -n "$gone" ] && [ "$(git show "$previous:include/tile/tilert.h" | abi)" = "$(abi <include/tile/tilert.h)" ]; then
    complain "$(basename "$list" .symbols) lacks" $gone "of $previous, and TILE_ABI_VERSION is the same"
  fi
done

for check in check-layering check-docs check-skip check-features check-spdx; do
  tools/dev/$check.sh build >/dev/null 2>&1 || complain "tools/dev/$check.sh fails"
done
for package in tile tile-dev tile-compiler; do
  compgen -G "build/package/${package}_${version}_*.deb" >/dev/null || complain "build/package has no $package of version $version"
done
[ $status -ne 0 ] || echo "release-check: version $version can be released"
exit $status
