package ingest

import (
	"bytes"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"adshard/backend"
)

const (
	maxName = 1 << 10 // bytes of an advertiser's, campaign's or group's name
	maxURL  = 2 << 10 // bytes
)

var (
	errNameLong = errors.New("a name of more than 1,024 bytes: shorten it")
	errURLLong  = errors.New("a URL of more than 2,048 bytes: shorten it")
	errURL      = errors.New("not a URL that an ad can lead to: http:// or https:// with a host, without control characters")
)

// checkText refuses text that a database cannot keep.
func checkText(b []byte) error {
	if !utf8.Valid(b) {
		if halfPair(b) {
			return errText
		}
		return errEncoding
	}
	if bytes.IndexByte(b, 0) >= 0 {
		return errNUL
	}
	return nil
}

// halfPair reports whether text holds what utf16Reader writes for half a UTF-16 pair.
func halfPair(b []byte) bool {
	at := bytes.IndexByte(b, 0xED)
	return at >= 0 && at+2 < len(b) && b[at+1] >= 0xA0 && b[at+2] >= 0x80
}

// checkName refuses the name of an advertiser, campaign or group that is too
// long.
func checkName(name string) error {
	if len(name) > maxName {
		return errNameLong
	}
	return nil
}

// checkAdURL refuses an ad whose URL is not that of a web page. An ad that is removed
// may have any URL, since it may have been imported before there was this check.
func checkAdURL(ad *backend.AdPatch) error {
	if ad.FinalURL == "" || ad.Status == backend.Remove {
		return nil
	}
	return checkURL(ad.FinalURL)
}

// parseURL reads the URL of a web page.
func parseURL(url string) (string, error) {
	if url == "" {
		return "", nil
	}
	return url, checkURL(url)
}

func checkURL(url string) error {
	if len(url) > maxURL {
		return errURLLong
	}
	scheme, rest, ok := strings.Cut(url, "://")
	web := strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https")
	if !ok || !web || rest == "" || strings.ContainsRune("/?#", rune(rest[0])) {
		return errURL
	}
	if strings.ContainsFunc(rest, func(r rune) bool { return unicode.IsControl(r) }) { // feeds are careless with spaces
		return errURL
	}
	return nil
}
