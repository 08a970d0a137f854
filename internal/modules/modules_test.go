package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestNotice: NOTICE names every module that the programs link, with its licences, and no other. Each module has a
// known licence.
func TestNotice(t *testing.T) {
	list, err := linked("../..", "./cmd/...")
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	if err := writeNotice(&want, list); err != nil {
		t.Fatal(err)
	}
	notice, err := os.ReadFile("../../NOTICE")
	if err != nil {
		t.Fatal(err)
	}
	_, have, found := strings.Cut(string(notice), "this list of Go modules:\n")
	if !found || have != want.String() {
		t.Errorf("NOTICE does not list what the programs are linked from; run `make notice`. It should end with\n%s", want.String())
	}
	if n := strings.Count(want.String(), "\n"); n < 40 {
		t.Errorf("only %d modules: they are not read right", n)
	}
	checkTexts(t, list)
}

// checkTexts checks that packages include the licence of each module, and the notices of the modules that have some.
func checkTexts(t *testing.T, list []module) {
	t.Helper()
	var all bytes.Buffer
	if err := writeCopyright(&all, "OURS\n", list); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"OURS\n", "github.com/spf13/cobra v", "LICENSE.txt\n\n", "std 1.", "Copyright (C) 2016 Thomas Adam", // grocksdb's
		"google.golang.org/grpc v", "NOTICE.txt\n\nCopyright 2014 gRPC authors.", "PATENTS\n\nAdditional IP Rights Grant",
	} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("the texts of licences lack %q", want)
		}
	}
	if strings.Contains(all.String(), "TERMS AND CONDITIONS FOR USE") {
		t.Error("the texts of licences have the terms of the Apache License, which is in " + commonApache)
	}
}

// TestReadBites: a module without a licence is rejected, and so is one with a file of an unknown licence, even beside
// a file of a known one.
func TestReadBites(t *testing.T) {
	mit := "Permission is hereby granted, free of charge, to any person\nobtaining a copy …\nThe above copyright notice and this permission notice shall be included"
	for _, c := range []struct {
		files map[string]string
		want  string // licences, or part of the error
	}{
		{map[string]string{"LICENSE": mit}, "MIT"},
		{map[string]string{"License.txt": mit, "NOTICE": "x", "LICENSE-APACHE": "Apache License\n Version 2.0, January 2004"}, "Apache-2.0 MIT"},
		{map[string]string{"README": mit}, "has no file with a licence"},
		{map[string]string{"NOTICE": mit}, "has no file with a licence"},
		{map[string]string{"LICENSE": "All rights reserved."}, "no licence that is known"},
		{map[string]string{"LICENSE": mit, "LICENSE.font": "Ask us."}, "no licence that is known"},
	} {
		m := module{Path: "example.com/m", Version: "v1.0.0", Dir: t.TempDir()}
		for name, body := range c.files {
			if err := os.WriteFile(filepath.Join(m.Dir, name), []byte(body), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got := ""
		if err := m.read(); err != nil {
			got = err.Error()
		} else {
			got = strings.Join(m.licences, " ")
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%v: %q, want %q", c.files, got, c.want)
		}
	}
}

// TestLibrary: a linked library that is no Go module has its own package URL and its licences.
func TestLibrary(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "LICENSE.two"), []byte(redistribution), 0o600); err != nil {
		t.Fatal(err)
	}
	const purl = "pkg:github/owner/name@v1.0.0"
	m, err := library(purl + "=" + dir)
	if err != nil || m.Path != "owner/name" || m.Version != "v1.0.0" || !slices.Equal(m.licences, []string{"BSD-2-Clause"}) {
		t.Errorf("%+v, %v", m, err)
	}
	var sbom bytes.Buffer
	if err := writeSBOM(&sbom, "1.2.0", []module{m}); err != nil || !strings.Contains(sbom.String(), `"purl": "`+purl+`"`) {
		t.Errorf("%v: %s", err, sbom.String())
	}
	for _, wrong := range []string{purl, purl + "=", "name=" + dir, purl + "=" + dir + "/none"} {
		if m, err := library(wrong); err == nil {
			t.Errorf("%s gives %+v", wrong, m)
		}
	}
}

// TestWithoutTerms: the terms are removed, and the text that others wrote around them stays.
func TestWithoutTerms(t *testing.T) {
	licence, err := os.ReadFile("../../LICENSE")
	if err != nil {
		t.Fatal(err)
	}
	short := withoutTerms("MIT for a.go\n\n" + string(licence) + "\nCopyright 2016 A\n")
	if len(short) > 2000 || !strings.HasPrefix(short, "MIT for a.go\n\n\n[the terms") || !strings.HasSuffix(short, "\nCopyright 2016 A\n") || !strings.Contains(short, commonApache) {
		t.Errorf("%d bytes: %q", len(short), short)
	}
	if mit := "Permission is hereby granted"; withoutTerms(mit) != mit {
		t.Errorf("%q", withoutTerms(mit))
	}
}

func TestIdentify(t *testing.T) {
	const three = redistribution + ": the name may not be used to endorse or promote products"
	for body, want := range map[string][]string{
		redistribution + ": 1. 2.": {"BSD-2-Clause"},
		three:                      {"BSD-3-Clause"},
		three + " All advertising materials mentioning features": nil, // four clauses
		"Mozilla Public License Version 2.0":                     {"MPL-2.0"},
		"GNU GENERAL PUBLIC LICENSE Version 2":                   nil,
	} {
		if got := identify(body); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", body, got, want)
		}
	}
}

// TestSBOM: the SBOM lists each module with version, hash and licence, and has the same bytes each time.
func TestSBOM(t *testing.T) {
	list := []module{{Path: "example.com/m", Version: "v1.0.0+incompatible", Sum: "h1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", licences: []string{"ISC", "MIT"}}}
	var first, second bytes.Buffer
	if err := writeSBOM(&first, "1.2.0", list); err != nil {
		t.Fatal(err)
	}
	if err := writeSBOM(&second, "1.2.0", list); err != nil || first.String() != second.String() {
		t.Errorf("%v; two that differ:\n%s\n%s", err, first.String(), second.String())
	}
	var d document
	if err := json.Unmarshal(first.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	c := d.Components[0]
	if c.PURL != "pkg:golang/example.com/m@v1.0.0%2Bincompatible" || len(c.Licences) != 2 || c.Licences[1].License.ID != "MIT" ||
		c.Hashes[0].Content != "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f" {
		t.Errorf("%+v", c)
	}
	if d.Metadata.Component.Version != "1.2.0" || !slices.Equal(d.Dependencies[0].On, []string{c.Ref}) {
		t.Errorf("%+v", d)
	}
}
