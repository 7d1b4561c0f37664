// Java, a thread and a socket for each connection. Answers 200 with a body, and 401 to what is forged.
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

class Receiver {
  public static void main(String[] arguments) throws Exception {
    var server = new ServerSocket(Integer.parseInt(System.getenv("PORT")), 128, InetAddress.getByName("127.0.0.1"));
    System.out.println("listening on http://127.0.0.1:" + server.getLocalPort() + "/");
    while (true) {
      var socket = server.accept();
      new Thread(() -> serve(socket)).start();
    }
  }

  static void serve(Socket socket) {
    try (socket) {
      InputStream in = new BufferedInputStream(socket.getInputStream());
      int length = 0;
      List<String> signatures = new ArrayList<>();
      for (String line = readLine(in); !line.isEmpty(); line = readLine(in)) {
        int colon = line.indexOf(':');
        if (colon < 0) continue;
        String name = line.substring(0, colon).toLowerCase(Locale.ROOT);
        String value = line.substring(colon + 1).strip();
        if (name.equals("content-length")) length = Integer.parseInt(value);
        if (name.equals("x-service-signature")) signatures.add(value);
      }
      byte[] body = in.readNBytes(length);
      boolean genuine = body.length == length && signatures.size() == 1 && isGenuine(signatures.get(0), body);
      String answer = genuine ? "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" : "HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n";
      socket.getOutputStream().write(answer.getBytes(StandardCharsets.US_ASCII));
    } catch (Exception problem) {
      // The connection is closed without an answer.
    }
  }

  static boolean isGenuine(String header, byte[] body) throws Exception {
    String t = null;
    List<String> candidates = new ArrayList<>();
    for (String part : header.split(",")) {
      if (part.startsWith("t=") && t == null) t = part.substring(2);
      else if (part.startsWith("v1=")) candidates.add(part.substring(3));
      else return false;
    }
    if (t == null || !t.matches("[0-9]{1,18}")) return false;
    if (Math.abs(System.currentTimeMillis() / 1000 - Long.parseLong(t)) > 300) return false;
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(System.getenv("WEBHOOK_SECRET").getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
    mac.update((t + ".").getBytes(StandardCharsets.US_ASCII));
    StringBuilder hex = new StringBuilder();
    for (byte one : mac.doFinal(body)) hex.append(String.format("%02x", one));
    byte[] expected = hex.toString().getBytes(StandardCharsets.US_ASCII);
    boolean found = false;
    for (String one : candidates) found |= MessageDigest.isEqual(one.getBytes(StandardCharsets.ISO_8859_1), expected);
    return found;
  }

  static String readLine(InputStream in) throws IOException {
    StringBuilder line = new StringBuilder();
    for (int one = in.read(); one != '\n'; one = in.read()) {
      if (one < 0) throw new IOException("The connection ended.");
      if (one != '\r') line.append((char) one);
    }
    return line.toString();
  }
}
