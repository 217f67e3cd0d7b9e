package redisbarrier

import (
	"encoding"
	"fmt"
	"net"
	"reflect"
	"strconv"
	"time"
)

// textsOf are a script's arguments in the form in which Redis takes them.
func textsOf(args []any) ([]string, error) {
	texts := make([]string, len(args))
	for i, arg := range args {
		var err error
		if texts[i], err = textOf(arg); err != nil {
			return nil, fmt.Errorf("argument %d: %w", i+1, err)
		}
	}
	return texts, nil
}

// textOf writes an argument as go-redis does: a time as RFC 3339, a duration in
// nanoseconds, a bool as 1 or 0, nothing at all for nil.
func textOf(arg any) (string, error) {
	switch v := arg.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case []byte:
		return string(v), nil
	case net.IP:
		return string(v), nil
	case time.Time:
		return v.Format(time.RFC3339Nano), nil
	case *time.Time:
		if v == nil {
			v = &time.Time{}
		}
		return v.Format(time.RFC3339Nano), nil
	case encoding.BinaryMarshaler:
		data, err := v.MarshalBinary()
		return string(data), err
	default:
		return textOfValue(reflect.ValueOf(arg))
	}
}

// textOfValue writes what is a text, a number or a bool at heart. A nil pointer is the
// zero of what it would point to.
func textOfValue(v reflect.Value) (string, error) {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return textOfValue(reflect.Zero(v.Type().Elem()))
		}
		return textOfValue(v.Elem())
	}
	switch {
	case v.Kind() == reflect.String:
		return v.String(), nil
	case v.Kind() == reflect.Bool && v.Bool():
		return "1", nil
	case v.Kind() == reflect.Bool:
		return "0", nil
	case v.CanInt():
		return strconv.FormatInt(v.Int(), 10), nil
	case v.CanUint():
		return strconv.FormatUint(v.Uint(), 10), nil
	case v.CanFloat():
		return strconv.FormatFloat(v.Float(), 'f', -1, 64), nil
	default:
		return "", fmt.Errorf("%s cannot be an argument of a script; make it a string", v.Type())
	}
}
