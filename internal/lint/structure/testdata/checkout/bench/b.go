package bench

import _ "adshard/cmd/x/deep"
