package values

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"adshard/ingest/textfile"
)

const (
	maxName = 1 << 10 // bytes of an advertiser's, campaign's or group's name
	maxURL  = 2 << 10 // bytes
)

// Errors of texts.
var (
	ErrText     = errors.New("not valid text: damaged UTF-8 or half a UTF-16 pair")
	ErrEncoding = errors.New("not valid text: the file is not UTF-8, but perhaps Windows-1252 or another encoding of one byte a character, as " +
		"spreadsheets save CSV: save it as CSV UTF-8, or convert it (iconv -f WINDOWS-1252 -t UTF-8 FILE)")

	errNUL      = errors.New("a zero byte (NUL): remove it, databases cannot keep it")
	errNameLong = errors.New("a name of more than 1,024 bytes: shorten it")
	errURLLong  = errors.New("a URL of more than 2,048 bytes: shorten it")
	errURL      = errors.New("not a URL that an ad can lead to: http:// or https:// with a host, without control characters")
)

// CheckText returns an error if a database cannot store the text.
func CheckText(b []byte) error {
	if !utf8.Valid(b) {
		if textfile.HasLoneSurrogate(b) {
			return ErrText
		}
		return ErrEncoding
	}
	if bytes.IndexByte(b, 0) >= 0 {
		return errNUL
	}
	return nil
}

// CheckName returns an error if the name of an advertiser, campaign or group is too long.
func CheckName(name string) error {
	if len(name) > maxName {
		return errNameLong
	}
	return nil
}

// ParseURL reads the URL of a web page.
func ParseURL(url string) (string, error) {
	if url == "" {
		return "", nil
	}
	return url, CheckURL(url)
}

// CheckURL returns an error if the text is not the URL of a web page.
func CheckURL(url string) error {
	if len(url) > maxURL {
		return errURLLong
	}
	scheme, rest, ok := strings.Cut(url, "://")
	web := strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https")
	if !ok || !web || rest == "" || strings.ContainsRune("/?#", rune(rest[0])) {
		return errURL
	}
	if strings.ContainsFunc(rest, func(r rune) bool { return unicode.IsControl(r) }) { // spaces are allowed, since feeds often contain them
		return errURL
	}
	return nil
}

// AtMost returns a function that accepts a text of at most `most` bytes.
func AtMost(most int) func(string) (string, error) {
	long := fmt.Errorf("a text of more than %d bytes: shorten it", most)
	return func(s string) (string, error) {
		if len(s) > most {
			return "", long
		}
		return s, nil
	}
}

// AsIs returns the text unchanged.
func AsIs(text string) string { return text }
