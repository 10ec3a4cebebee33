import java.util.*;

public class Old {
    @SuppressWarnings("none")
    static int twice(List raw) {
        raw.add("x");
        List<String> names = raw;
        Integer boxed = new Integer(3);
        switch (boxed) {
            case 3:
                names.clear();
            case 4:
                return 4;
        }
        return (int) boxed;
    }
}
