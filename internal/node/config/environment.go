package config

import (
	"slices"
	"strings"
)

// environment is the prefix of the environment variables that set flags.
const environment = "ADSHARD_"

// Variable returns the environment variable that sets a flag: ADSHARD_TLS_CERT for tls-cert.
func Variable(flag string) string {
	return environment + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// WithoutVariables returns an environment without the variables that set flags. It is for a child
// process, whose configuration file has all settings, including those that differ between children.
func WithoutVariables(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool { return strings.HasPrefix(v, environment) })
}
