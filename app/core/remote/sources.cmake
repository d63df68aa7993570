# SPDX-License-Identifier: GPL-3.0-or-later
find_package(libssh 0.10 REQUIRED)
find_package(Qt6Keychain REQUIRED)
find_package(OpenSSL REQUIRED)
target_sources(rm_core PRIVATE
    remote/back_off.cpp
    remote/chosen_keys_agent.cpp
    remote/command_line.cpp
    remote/credential_store.cpp
    remote/error_tail.cpp
    remote/handshake_gate.cpp
    remote/helper_program.cpp
    remote/host_key.cpp
    remote/jump_host.cpp
    remote/key_file.cpp
    remote/keyring.cpp
    remote/keyring.h
    remote/known_hosts.cpp
    remote/local_session.cpp
    remote/memory_file.cpp
    remote/open_session.cpp
    remote/process_reader.cpp
    remote/proxy.cpp
    remote/resolver.cpp
    remote/run_to_end.cpp
    remote/secret.cpp
    remote/sign_of_life.cpp
    remote/ssh_auth.cpp
    remote/ssh_config.cpp
    remote/ssh_error.cpp
    remote/ssh_link.cpp
    remote/ssh_process.cpp
    remote/ssh_session.cpp
    remote/ssh_tokens.cpp
    remote/start_mark.cpp
    remote/tcp_connection.cpp
    remote/waker.cpp)
target_link_libraries(rm_core PRIVATE ssh Qt6Keychain::Qt6Keychain OpenSSL::Crypto)
